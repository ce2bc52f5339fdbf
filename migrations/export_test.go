package migrations

import (
	"context"
	"database/sql"
)

// UpTo brings a database to an older version, as an older program left it.
func UpTo(ctx context.Context, db *sql.DB, dialect string, version int64) error {
	provider, err := newProvider(db, dialect)
	if err == nil {
		_, err = provider.UpTo(ctx, version)
	}
	return err
}
