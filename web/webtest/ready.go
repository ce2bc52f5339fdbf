package webtest

import (
	"context"
	"errors"
	"net"
)

// SickQueue is a queue with a failure.
type SickQueue struct{ Err error }

func (q *SickQueue) Health(context.Context) error { return q.Err }
func (q *SickQueue) Dropped() int64               { return 7 }
func (q *SickQueue) WorkerConn() (net.Conn, error) {
	return nil, errors.New("the server is shutting down")
}
