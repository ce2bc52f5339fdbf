// Package queuetest makes what tests of a queue need beside a queue: a desk that answers workers (desk.go), certificates for TLS (queuetest.go), a cluster of NATS
// nodes in this process (cluster.go), and a node as an operator sets one up, that asks a site who its workers are (asking.go).
package queuetest
