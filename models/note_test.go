package models_test

import (
	"fmt"
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestANoteOnARecordIsItsPersons(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := newWorld(t, s), t.Context()
		was, is, never := w.Score(t, s, w.Ann, 100), w.Score(t, s, w.Ben, 90), w.Score(t, s, w.Ann, 95)
		note := func(who accounts.User, run work.Run, text string) error {
			_, err := s.SetRunNote(ctx, who, run.ID, text)
			return err
		}
		notes := func() (messages []string) {
			for _, r := range modelstest.Got[[]boards.RecordWithHolder](t)(s.Boards.RecordHistory(ctx, was.VersionID,
				was.Device)) {
				messages = append(messages, r.Note)
			}
			return messages
		}
		modelstest.Check(t, note(w.Ann, was, " Tiles of\r\n 64\x00\u200b x 64 "))
		modelstest.Check(t, note(w.Ben, is, strings.Repeat("é", 280)))
		if messages := notes(); len(messages) != 2 || messages[0] != "Tiles of 64 x 64" || len([]rune(messages[1])) != 280 {
			t.Errorf("the records say %q", messages)
		}
		modelstest.WantKind(t, note(w.Ann, never, "Not first."), db.Conflict)
		modelstest.WantKind(t, note(w.Ann, was, strings.Repeat("é", 281)), db.Invalid)
		for _, other := range []accounts.User{w.Ben, w.Admin, {}} {
			modelstest.WantKind(t, note(other, was, "In another's name."), db.Forbidden)
		}
		modelstest.WantKind(t, note(w.Ben, was, ""), db.Forbidden)
		modelstest.Check(t, note(w.Admin, was, ""))
		modelstest.Check(t, note(w.Ben, is, "Shorter."))
		if messages := notes(); messages[0] != "" || messages[1] != "Shorter." {
			t.Errorf("after removing and changing, the records say %q", messages)
		}
		audits := modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(ctx, w.Admin, fmt.Sprintf("run %d", was.ID), 0,
			10))
		if len(audits) != 2 || audits[0].ActorID != w.Admin.ID || !strings.Contains(audits[0].Detail, "Tiles of 64") {
			t.Errorf("the audit log has %+v", audits)
		}
	})
}
