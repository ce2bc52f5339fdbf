package db

import (
	"context"
	"sync/atomic"
	"time"

	"gorm.io/gorm/logger"
)

// statementCounter counts the statements that gorm sends to the database. It implements gorm's logger and logs nothing,
// because errors are logged where they are handled.
type statementCounter struct{ sentCount atomic.Int64 }

func (s *statementCounter) LogMode(logger.LogLevel) logger.Interface { return s }

func (*statementCounter) Info(context.Context, string, ...any) {}

func (*statementCounter) Warn(context.Context, string, ...any) {}

func (*statementCounter) Error(context.Context, string, ...any) {}

func (s *statementCounter) Trace(context.Context, time.Time, func() (string, int64), error) {
	s.sentCount.Add(1)
}

// QueryCount returns the number of statements sent to the database since it was opened.
func (d *DB) QueryCount() int64 { return d.statementCounter.sentCount.Load() }
