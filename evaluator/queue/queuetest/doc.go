// Package queuetest has helpers for tests of a queue: a desk that answers workers (desk.go), certificates for TLS
// (queuetest.go), a cluster of NATS nodes in this process (cluster.go), and a node in an operator's configuration, which
// asks a site who its workers are (asking.go).
package queuetest
