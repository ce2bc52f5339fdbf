// Package webhooks sends deliveries to other programs: signed as standardwebhooks.com says, again after growing pauses, and
// only to addresses that are not of the operator's own network.
//
// Begin at deliverer.go; sender.go has the one request and what it is protected from; publicnet says which addresses.
package webhooks
