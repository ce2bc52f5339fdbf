package models

import (
	"context"
	"fmt"
	"strings"
	"unicode"

	"gorm.io/gorm"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/work"
)

const maxNoteLength = 280 // characters

// SetRunNote sets a person's note on their own run that is or was a record. An empty text deletes the note, which the
// author of the task and admins may do too.
func (s *Store) SetRunNote(
	ctx context.Context, actor accounts.User, runID int64, text string,
) (changes []boards.ChangedBoard, err error) {
	text = toSingleLine(text)
	if n := len([]rune(text)); n > maxNoteLength {
		return nil, db.Errorf(db.Invalid, "The note has %d characters; at most %d are kept.", n, maxNoteLength)
	}
	err = s.db.Write(ctx, func(tx *gorm.DB) error {
		run, task, err := runOfTask(tx, runID)
		if err != nil {
			return err
		}
		// The record is checked in the same transaction, so that a run which loses its record at the same time gets no
		// note.
		if err := checkMayWriteNote(tx, actor, run, task, text); err != nil || text == run.Note {
			return err
		}
		before := run.Note
		if err := tx.Model(&run).Update("note", text).Error; err != nil {
			return fmt.Errorf("saving the note on run %d: %w", runID, err)
		}
		change, err := boards.IncrementChangeNumber(tx, run.VersionID, run.Device)
		if err != nil {
			return err
		}
		changes = append(changes, *change)
		act, detail := "write note", text
		if text == "" {
			act, detail = "remove note", "was: "+before
		}
		return accounts.WriteAudit(tx, actor, act, fmt.Sprintf("run %d", runID), detail)
	})
	return changes, err
}

// checkMayWriteNote returns an error if the actor may not set the note. No one, not even an admin, may write a note in
// another person's name.
func checkMayWriteNote(tx *gorm.DB, actor accounts.User, run work.Run, task catalog.Task, text string) error {
	if text == "" && actor.ID != run.UserID {
		return actor.CheckPermission(accounts.RemoveRunNote, accounts.OwnerIDs{AuthorID: task.OwnerID})
	}
	if !actor.SignedIn() || actor.ID != run.UserID {
		return db.Errorf(db.Forbidden, "Only the person who submitted the run may write a note on it.")
	}
	if text == "" {
		return nil
	}
	led, err := isOrWasRecord(tx, run)
	if err == nil && !led {
		return db.Errorf(db.Conflict, "Run %d never led its board: notes are for records.", run.ID)
	}
	return err
}

// IsOrWasRecord reports whether a run is or was the record of its board.
func (s *Store) IsOrWasRecord(ctx context.Context, run work.Run) (bool, error) {
	return isOrWasRecord(s.db.Read(ctx), run)
}

func isOrWasRecord(tx *gorm.DB, run work.Run) (bool, error) {
	var n int64
	err := tx.Model(&boards.Record{}).Where("version_id = ? and device = ? and run_id = ?", run.VersionID, run.Device, run.ID).Count(&n).Error
	return n > 0, db.ReadError(err, "the records of run %d", run.ID)
}

// toSingleLine removes control characters, invisible characters, and double spaces.
func toSingleLine(text string) string {
	// Format characters are removed too, because they can change the direction of text, and pages show notes beside
	// other people's names.
	visible := strings.Map(func(r rune) rune {
		if !unicode.IsSpace(r) && !unicode.IsPrint(r) {
			return -1
		}
		return r
	}, db.SanitizeText(text))
	return strings.Join(strings.Fields(visible), " ")
}
