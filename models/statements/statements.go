package statements

import (
	"context"
	"errors"
	"fmt"
	"time"

	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"warpboard/internal/statement"
	"warpboard/models/accounts"
	"warpboard/models/db"
)

// Ledger is the statements of one database.
type Ledger struct{ db *db.DB }

// New returns the statements of a database.
func New(database *db.DB) *Ledger { return &Ledger{db: database} }

// Kept is one statement.
type Kept struct {
	Number  int64 `gorm:"primaryKey"`
	RunID   int64
	Hash    string
	Payload string
}

// TableName is gorm's.
func (Kept) TableName() string { return "statements" }

// Append makes a statement the next one. Writers come one at a time, on both databases, so numbers have no gaps.
func Append(tx *gorm.DB, s statement.Statement) error {
	var last Kept
	err := tx.Select("number", "hash").Order("number desc").Take(&last).Error
	if err != nil && !errors.Is(err, gorm.ErrRecordNotFound) {
		return db.ReadError(err, "the last statement")
	}
	s.Result.Chain = statement.Link{Number: last.Number + 1, Previous: last.Hash}
	payload, err := s.Payload()
	if err != nil {
		return err
	}
	next := Kept{Number: last.Number + 1, RunID: s.Result.Run, Hash: statement.Hash(payload), Payload: string(payload)}
	return db.WriteError(tx.Create(&next).Error, "statement")
}

// Statement returns what was stated of a run when it ended. NotFound: nothing was.
func (l *Ledger) Statement(ctx context.Context, runID int64) (Kept, error) {
	var kept Kept
	err := l.db.Read(ctx).Where("run_id = ?", runID).Order("number desc").Take(&kept).Error
	if errors.Is(err, gorm.ErrRecordNotFound) {
		return kept, db.Errorf(db.NotFound, "There is no statement of run %d: it has no score, or it ended before this site made statements.", runID)
	}
	return kept, db.ReadError(err, "the statement of run %d", runID)
}

// Chain lists statements for an admin, those after a number.
func (l *Ledger) Chain(ctx context.Context, actor accounts.User, after int64, limit int) ([]Kept, error) {
	if err := actor.Check(accounts.ExportResults, accounts.Of{}); err != nil {
		return nil, err
	}
	var list []Kept
	err := l.db.Read(ctx).Where("number > ?", after).Order("number").Limit(limit).Find(&list).Error
	return list, db.ReadError(err, "statements")
}

// signingKey is a row of the keys that the site signed with.
type signingKey struct {
	ID        string `gorm:"primaryKey"`
	PublicKey string
	CreatedAt time.Time
}

// NoteSigningKey stores a key, so that its signatures can be verified after another one has replaced it. It returns
// all keys, this one first, then the newest.
func (l *Ledger) NoteSigningKey(ctx context.Context, key statement.Key) (keys statement.Keys, err error) {
	own, err := key.Public(db.Now())
	if err != nil {
		return keys, err
	}
	var rows []signingKey
	err = l.db.Write(ctx, func(tx *gorm.DB) error {
		row := signingKey{own.ID, own.PEM, own.Since}
		if err := tx.Clauses(clause.OnConflict{DoNothing: true}).Create(&row).Error; err != nil {
			return db.WriteError(err, "signing key")
		}
		return tx.Clauses(db.OrderBy("case when id = ? then 0 else 1 end, created_at desc", own.ID)).Find(&rows).Error
	})
	if err != nil {
		return keys, fmt.Errorf("noting the signing key: %w", err)
	}
	for _, row := range rows {
		keys.Keys = append(keys.Keys, statement.PublicKey{ID: row.ID, PEM: row.PublicKey, Since: row.CreatedAt})
	}
	return keys, nil
}
