package models

import (
	"context"
	"time"

	"gorm.io/gorm"

	"warpboard/models/db"
)

// Asker is who asks for evaluations: somebody signed in, or somebody with neither token nor session who shows a
// key. The zero Asker owns nothing.
type Asker struct {
	User  User
	Owner string // names this caller and no other: a token, a person or a key; empty: nobody
}

// Owns reports whether an evaluation is the asker's. A person's tokens and sessions own the same evaluations.
func (a Asker) Owns(e Evaluation) bool {
	if a.User.SignedIn() {
		return e.UserID == a.User.ID
	}
	return a.Owner != "" && e.UserID == 0 && e.Owner == a.Owner
}

// MayRead reports whether the asker may see an evaluation's sources, and all else that is known of it.
func (a Asker) MayRead(e Evaluation) bool { return e.Shared || a.MayChange(e) }

// MayChange reports whether the asker may cancel or share an evaluation.
func (a Asker) MayChange(e Evaluation) bool { return a.Owns(e) || a.User.IsAdmin() }

// Evaluations lists the asker's own evaluations, the newest first, without their requests and results.
func (s *Store) Evaluations(ctx context.Context, asker Asker, offset, limit int) ([]Evaluation, error) {
	list := []Evaluation{}
	query := s.db.Read(ctx).Omit("request", "result").Order("queued_at desc, id").Offset(offset).Limit(limit)
	switch {
	case asker.User.SignedIn():
		query = query.Where("user_id = ?", asker.User.ID)
	case asker.Owner != "":
		query = query.Where("user_id = 0 and owner = ?", asker.Owner)
	default:
		return list, nil
	}
	return list, db.ReadError(query.Find(&list).Error, "evaluations")
}

// PruneEvaluationsOf removes those of an owner that ended before a time; nobody's stay.
func (s *Store) PruneEvaluationsOf(ctx context.Context, owner string, before time.Time) error {
	if owner == "" {
		return nil
	}
	err := s.db.Writer(ctx).Where("ended_at < ? and owner = ?", db.Time(before), owner).Delete(&Evaluation{}).Error
	return db.WriteError(err, "evaluations without the old ones")
}

// ShareEvaluation lets whoever knows its id read an evaluation, or takes that back.
func (s *Store) ShareEvaluation(ctx context.Context, id string, shared bool) (e Evaluation, err error) {
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		if err := tx.Where("id = ?", id).Take(&e).Error; err != nil {
			return db.ReadError(err, "evaluation %s", id)
		}
		if e.Shared == shared {
			return nil
		}
		e.Shared = shared
		e.Change++
		return db.WriteError(tx.Model(&e).Updates(map[string]any{"shared": shared, "change": e.Change}).Error, "evaluation")
	})
	return e, err
}
