package db

import (
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/mattn/go-sqlite3"
)

// isUnavailable reports whether err is a failure of the database rather than of the query: a restart, a full disk, or
// no free connection. Retrying may help.
func isUnavailable(err error) bool {
	if e, ok := errors.AsType[*pgconn.PgError](err); ok {
		// Classes of SQLSTATE: connection exceptions, insufficient resources, operator intervention, system errors.
		return slices.ContainsFunc([]string{"08", "53", "57P", "58"}, func(class string) bool { return strings.HasPrefix(e.Code, class) })
	}
	if e, ok := errors.AsType[sqlite3.Error](err); ok {
		return slices.Contains([]sqlite3.ErrNo{sqlite3.ErrFull, sqlite3.ErrIoErr, sqlite3.ErrCantOpen, sqlite3.ErrBusy,
			sqlite3.ErrNomem, sqlite3.ErrReadonly}, e.Code)
	}
	if _, ok := errors.AsType[net.Error](err); ok {
		return true
	}
	_, refused := errors.AsType[*pgconn.ConnectError](err)
	return refused || errors.Is(err, driver.ErrBadConn) || pgconn.SafeToRetry(err) ||
		errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT)
}
