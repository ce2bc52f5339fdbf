// Package webhooks sends deliveries to other programs: signed as in standardwebhooks.com, retried after growing pauses,
// and only to addresses outside the operator's own network.
//
// Start at deliverer.go; chat.go has the texts for chats, sender.go the request and its protections; the guard of
// models/webhooks decides about addresses.
package webhooks
