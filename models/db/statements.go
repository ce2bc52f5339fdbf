package db

import (
	"context"
	"sync/atomic"
	"time"

	"gorm.io/gorm/logger"
)

// statements counts the statements to the database. As gorm's logger it receives each statement, and logs none: every
// error is returned, and logged once where it is handled.
type statements struct{ sent atomic.Int64 }

func (s *statements) LogMode(logger.LogLevel) logger.Interface { return s }

func (*statements) Info(context.Context, string, ...any) {}

func (*statements) Warn(context.Context, string, ...any) {}

func (*statements) Error(context.Context, string, ...any) {}

func (s *statements) Trace(context.Context, time.Time, func() (string, int64), error) { s.sent.Add(1) }

// Queries returns the number of statements sent to the database since it was opened.
func (d *DB) Queries() int64 { return d.statements.sent.Load() }
