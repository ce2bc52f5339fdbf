package db

import (
	"context"
	"fmt"

	"warpboard/migrations"
)

// Of the unused pages of 4 KiB of a database file, spare are kept for new rows; the others are freed in pieces of some
// tens of milliseconds, between which others write.
const sparePages, pagesPerPiece = 2048, 1024

// Shrink returns the space of deleted rows to the disk. PostgreSQL does so by itself, as far as it can. A file from
// before this version keeps its size until it is vacuumed once (docs/metrics.md).
func (d *DB) Shrink(ctx context.Context) error {
	if d.dialect != migrations.SQLite {
		return nil
	}
	for last := -1; ; {
		var unused int
		if err := d.writer.WithContext(ctx).Raw("pragma freelist_count").Scan(&unused).Error; err != nil {
			return fmt.Errorf("counting unused pages of the database: %w", err)
		}
		if unused <= sparePages || unused == last {
			return nil
		}
		last = unused
		if err := d.freePages(ctx, min(pagesPerPiece, unused-sparePages)); err != nil {
			return fmt.Errorf("giving back unused pages of the database: %w", err)
		}
	}
}

// freePages frees this many pages. The statement works while its rows, which are empty, are read.
func (d *DB) freePages(ctx context.Context, pages int) error {
	rows, err := d.writer.WithContext(ctx).Raw(fmt.Sprintf("pragma incremental_vacuum(%d)", pages)).Rows()
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
	}
	return rows.Err()
}
