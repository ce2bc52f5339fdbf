// Package webhooks holds webhooks, events that wait to be delivered, and deliveries.
//
// An event is written in the transaction in which it happens (Note), so that none is lost. The deliverer turns events
// into deliveries (event.go), claims those that are due and reports how they ended (delivery.go). Read webhooks.go
// first.
package webhooks
