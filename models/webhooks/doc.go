// Package webhooks is what other programs are told of events: webhooks, events that wait to be told, and deliveries.
//
// An event is written in the transaction in which it happens (Note), so that none is lost. The deliverer makes deliveries of
// events (event.go), claims those that are due and says how they went (delivery.go). Read webhooks.go first.
package webhooks
