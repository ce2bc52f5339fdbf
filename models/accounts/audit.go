package accounts

import (
	"context"
	"fmt"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Audit is one act that an admin, a creator or the operator did to something that others see.
type Audit struct {
	ID        int64
	ActorID   int64 // 0: the operator, by flag or command
	ActorName string
	Act       string // "disqualify"
	Subject   string // "run 17"
	Detail    string
	CreatedAt time.Time
}

// WriteAudit notes an act, in the transaction that does it.
func WriteAudit(tx *gorm.DB, actor User, act, subject, detail string) error {
	row := Audit{ActorID: actor.ID, ActorName: actor.Name, Act: act, Subject: subject, Detail: db.Sanitize(detail), CreatedAt: db.Now()}
	return db.WriteError(tx.Create(&row).Error, "line of the audit log")
}

// Audits lists acts before an id (0: from the newest), the newest first; search finds the name of the actor or a
// subject like "run 17". Admins only.
func (s *Accounts) Audits(ctx context.Context, actor User, search string, before int64, limit int) ([]Audit, error) {
	if err := actor.Check(ReadAudits, Of{}); err != nil {
		return nil, err
	}
	var rows []Audit
	q := s.db.Read(ctx).Order("id desc").Limit(limit)
	if search != "" {
		q = q.Where("subject = ? or actor_name = ?", search, search)
	}
	if before > 0 {
		q = q.Where("id < ?", before)
	}
	err := q.Find(&rows).Error
	return rows, db.ReadError(err, "the audit log")
}

// Decisions lists what was decided about a run, the oldest first. Everyone may read them.
func (s *Accounts) Decisions(ctx context.Context, runID int64) ([]Audit, error) {
	var rows []Audit
	err := s.db.Read(ctx).Where("subject = ? and act in ('disqualify', 'reinstate')", fmt.Sprintf("run %d", runID)).Order("id").Find(&rows).Error
	return rows, db.ReadError(err, "decisions about run %d", runID)
}
