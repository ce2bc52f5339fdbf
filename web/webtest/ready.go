package webtest

import (
	"context"
	"errors"
	"net"
)

// SickQueue is a message queue whose health check returns Err.
type SickQueue struct{ Err error }

func (q *SickQueue) CheckHealth(context.Context) error { return q.Err }
func (q *SickQueue) DroppedMessageCount() int64        { return 7 }
func (q *SickQueue) NewWorkerConn() (net.Conn, error) {
	return nil, errors.New("the server is shutting down")
}
