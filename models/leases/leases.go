package leases

import (
	"context"
	"slices"
	"strings"
	"time"

	"warpboard/migrations"
	"warpboard/models/db"
)

// Leases is what one process holds of one database.
type Leases struct {
	db     *db.DB
	holder string
}

// New returns the leases of the process that is called so. Whoever comes again under the same name has its leases at
// once, so it is to be kept over restarts.
func New(database *db.DB, holder string) *Leases { return &Leases{db: database, holder: holder} }

// Lease is one row.
type Lease struct {
	Name   string `gorm:"primaryKey"`
	Holder string
	Until  int64 // milliseconds since 1970
}

// Hold takes or renews the leases of these names as far as nobody else has them, and lists those that are held now.
func (l *Leases) Hold(ctx context.Context, names []string, length time.Duration) (held []string, err error) {
	if len(names) == 0 {
		return nil, nil
	}
	names = slices.Sorted(slices.Values(names)) // two processes take them in the same order, or would wait for each other
	var values []any
	for _, name := range names {
		values = append(values, name, l.holder, length.Milliseconds())
	}
	row := "(?, ?, " + l.clock() + " + ?)"
	err = l.db.Writer(ctx).Raw("insert into leases (name, holder, until) values "+strings.Repeat(row+", ", len(names)-1)+row+
		" on conflict (name) do update set holder = excluded.holder, until = excluded.until"+
		" where leases.holder = excluded.holder or leases.until < "+l.clock()+" returning name", values...).Scan(&held).Error
	return held, db.WriteError(err, "leases of %s", l.holder)
}

// LetGo gives all leases back, so that others need not wait for their end.
func (l *Leases) LetGo(ctx context.Context) error {
	err := l.db.Writer(ctx).Where("holder = ?", l.holder).Delete(&Lease{}).Error
	return db.WriteError(err, "leases of %s", l.holder)
}

// clock is SQL for the database's time in milliseconds.
func (l *Leases) clock() string {
	if l.db.Dialect() == migrations.Postgres {
		return "cast(extract(epoch from clock_timestamp()) * 1000 as bigint)"
	}
	return "cast((julianday('now') - 2440587.5) * 86400000 as integer)"
}
