package db

import (
	"context"
	"fmt"

	"warpboard/migrations"
)

// keptFreePages is the number of free 4 KiB pages that a SQLite file keeps for new rows. Others are freed
// pagesFreedAtOnce at a time, which takes some tens of milliseconds, so that other writers can proceed in between.
const keptFreePages, pagesFreedAtOnce = 2048, 1024

// Shrink returns free space of the SQLite file to the disk. PostgreSQL does this by itself. A file that was created
// before auto-vacuum was enabled keeps its size until it is vacuumed once (docs/metrics.md).
func (d *DB) Shrink(ctx context.Context) error {
	if d.dialect != migrations.SQLite {
		return nil
	}
	for last := -1; ; {
		var unused int
		if err := d.writeConn.WithContext(ctx).Raw("pragma freelist_count").Scan(&unused).Error; err != nil {
			return fmt.Errorf("counting unused pages of the database: %w", err)
		}
		if unused <= keptFreePages || unused == last {
			return nil
		}
		last = unused
		if err := d.freePages(ctx, min(pagesFreedAtOnce, unused-keptFreePages)); err != nil {
			return fmt.Errorf("giving back unused pages of the database: %w", err)
		}
	}
}

// freePages frees this many pages. SQLite frees a page for each row that is read from the pragma.
func (d *DB) freePages(ctx context.Context, pages int) error {
	rows, err := d.writeConn.WithContext(ctx).Raw(fmt.Sprintf("pragma incremental_vacuum(%d)", pages)).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
