// Package publicnet keeps requests to addresses that someone else chose away from the operator's own network: the dialer
// of an http.Client calls a Guard with each address that it is about to connect to (guard.go). client.go makes that client.
//
// Callers: webhooks.
package publicnet
