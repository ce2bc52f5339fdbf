// Package webhooks holds webhooks, events that wait to be delivered, and deliveries.
//
// An event is written in the transaction in which it happens (StoreEvent), so that none is lost. The deliverer turns
// events into deliveries (event.go), claims those that are due and reports how they ended (delivery.go). Read
// webhooks.go first.
//
// guard.go keeps requests to people's addresses out of the operator's own network: the dialer of client.go's
// http.Client calls a Guard with each address before it connects.
package webhooks
