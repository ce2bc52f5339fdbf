package events

import (
	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/db"
)

// RevealableEvent returns an event whose results the actor may reveal, because it has ended.
func RevealableEvent(tx *gorm.DB, actor accounts.User, id int64) (e Event, err error) {
	if err := tx.Take(&e, id).Error; err != nil {
		return e, db.ReadError(err, "event %d", id)
	}
	if err := actor.CheckPermission(accounts.EditEvent, accounts.OwnerIDs{AuthorID: e.OwnerID}); err != nil {
		return e, err
	}
	switch at := db.NormalizeTime(tx.NowFunc()); {
	case e.FrozenAt == nil:
		return e, db.Errorf(db.Conflict, "The event %s was never frozen, so there is nothing to reveal.", e.Title)
	case !e.HasEnded(at):
		return e, db.Errorf(db.Conflict, "The event %s ends at %s UTC. Reveal its results after that.", e.Title, e.EndsAt.UTC().Format(utcFormat))
	case e.RevealedAt != nil:
		return e, db.Errorf(db.Conflict, "All results of the event %s are revealed.", e.Title)
	}
	return e, nil
}

// MarkAllRevealed marks all results of an event as revealed.
func MarkAllRevealed(tx *gorm.DB, id int64) error {
	at := db.NormalizeTime(tx.NowFunc())
	return db.WriteError(tx.Model(&Event{}).Where("id = ?", id).Update("revealed_at", &at).Error, "event %d", id)
}
