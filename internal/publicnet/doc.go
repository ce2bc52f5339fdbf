// Package publicnet keeps requests to untrusted addresses out of the operator's own network: the dialer of an
// http.Client calls a Guard with each address before it connects (guard.go). client.go creates that client.
//
// Callers: webhooks.
package publicnet
