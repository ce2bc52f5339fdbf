// Package queuetest has helpers for tests of a queue: a Handler that answers workers (handler.go), certificates for TLS
// (queuetest.go), a cluster of NATS nodes in this process (cluster.go), and a node with an operator's configuration
// that asks the site to authorize workers (asking.go).
package queuetest
