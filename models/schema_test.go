package models_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gorm.io/gorm/schema"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/comments"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/models/events"
	"warpboard/models/fleet"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
	"warpboard/models/quota"
	"warpboard/models/samples"
	"warpboard/models/scores"
	"warpboard/models/submissions"
	"warpboard/models/webhooks"
	"warpboard/models/work"
)

func TestEveryTableHasExactlyTheColumnsOfItsStruct(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		for _, model := range []any{
			accounts.User{}, accounts.Identity{}, accounts.Session{}, accounts.Token{}, accounts.AuditEntry{}, db.Setting{},
			catalog.Blob{}, catalog.Task{}, catalog.TaskVersion{}, catalog.VersionFile{},
			submissions.Submission{}, work.Run{}, work.Attempt{}, work.Stage{}, work.RunEvent{}, work.Artifact{},
			boards.Entry{}, boards.BestRun{}, boards.Baseline{}, boards.Board{}, boards.Record{}, fleet.Worker{}, fleet.WorkerCredential{}, fleet.JoinToken{},
			work.Evaluation{}, work.Counter{}, models.ClockDifference{}, fleet.Device{}, epochs.Epoch{}, epochs.DeviceEpoch{}, models.RerunOrder{}, samples.Sample{}, models.SourceHold{},
			quota.Charge{}, webhooks.Webhook{}, webhooks.WebhookEvent{}, webhooks.Delivery{}, events.Event{}, events.EventTask{},
			scores.Draw{}, comments.Comment{}, comments.Report{}, inbox.Notice{}, inbox.NoticeChoices{}, inbox.Mail{},
		} {
			parsed, err := schema.Parse(model, new(sync.Map), schema.NamingStrategy{})
			if err != nil {
				t.Fatal(err)
			}
			rows, err := s.SQL().QueryContext(t.Context(), "select * from "+parsed.Table+" where 1 = 0")
			if err != nil {
				t.Errorf("%T: %v", model, err)
				continue
			}
			have, err := rows.Columns()
			if err != nil {
				t.Fatal(err)
			}
			rows.Close()
			want := slices.Clone(parsed.DBNames)
			slices.Sort(have)
			slices.Sort(want)
			if diff := cmp.Diff(want, have); diff != "" {
				t.Errorf("table %s differs from %T (-struct +table):\n%s", parsed.Table, model, diff)
			}
		}
	})
}

func TestOpeningAgainMigratesNothing(t *testing.T) {
	cfg := models.Config{Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}
	for _, cfg := range []models.Config{{Dir: cfg.Dir}, cfg} {
		for range 2 {
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Ping(t.Context()); err != nil {
				t.Error(err)
			}
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestOpeningRebuildsScoresIfAMigrationAsks checks that Open rebuilds scores if a migration requested it, and only
// once.
func TestOpeningRebuildsScoresIfAMigrationAsks(t *testing.T) {
	cfg := models.Config{Dir: t.TempDir()}
	s := modelstest.Got[*models.Store](t)(models.Open(t.Context(), cfg))
	w := newWorld(t, s)
	run := w.Score(t, s, w.Ann, 100)
	modelstest.Check(t, s.SetSetting(t.Context(), boards.RebuildSettingKey, "the rule of scores has changed"))
	modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(t.Context(), "update runs set score_ns = 5")))
	modelstest.Check(t, s.Close())
	s = modelstest.Got[*models.Store](t)(models.Open(t.Context(), cfg))
	defer s.Close()
	place := modelstest.Got[boards.Standing](t)(s.Boards.PersonPlace(t.Context(), w.Task.VersionID, "CPU", w.Ann.ID))
	if now := modelstest.Got[work.Run](t)(s.Work.Run(t.Context(), run.ID)); *now.ScoreNS != 100 || place.ScoreNS != 100 {
		t.Errorf("the run has %v, its entry %v", *now.ScoreNS, place.ScoreNS)
	}
	if asked := modelstest.Got[string](t)(s.Setting(t.Context(), boards.RebuildSettingKey)); asked != "" {
		t.Errorf("it is asked again: %s", asked)
	}
}

func TestSeveralProcessesMayMigrateAtOnce(t *testing.T) {
	cfg := models.Config{Dir: t.TempDir(), DSN: modelstest.PostgresURL(t)}
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			s, err := models.Open(t.Context(), cfg)
			if err != nil {
				t.Error(err)
				return
			}
			s.Close()
		})
	}
	wg.Wait()
}
