package work_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestANearlyFullDiskKeepsResultsAlone checks that an accepted run ends on a nearly full disk, but its files and events
// are not stored.
func TestANearlyFullDiskKeepsResultsAlone(t *testing.T) {
	modelstest.EachConfig(t, models.Config{MinFreeBytes: 1 << 60}, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		tell := modelstest.EventMaker{Attempt: attempt}
		stored, _, err := s.Work.AppendEvents(ctx, []job.Event{
			tell.Event(job.Event{Type: job.EventStageStarted, Stage: job.StageTest}),
			tell.Event(job.Event{Type: job.EventLog, Text: "a line"}),
			tell.Event(job.Event{Type: job.EventStageEnded, Stage: job.StageTest,
				EndedStage: &job.StageResult{Stage: job.StageTest, Status: job.StatusPass}}),
		})
		if err != nil || len(stored.Events) != 0 {
			t.Errorf("events are stored: %v, %v", types(stored.Events), err)
		}
		if now := modelstest.Got[work.Run](t)(s.Work.Run(ctx, run.ID)); now.State != work.StateTesting {
			t.Errorf("the run is %s", now.State)
		}
		result := job.Result{RunID: run.ID, AttemptID: attempt.ID, AttemptSecret: attempt.Secret,
			Outcome:   job.OutcomePassed,
			Stages:    []job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass}},
			Artifacts: []job.Artifact{{Name: "profile.0.json.gz", Size: 2e6, Data: []byte("content")}}}
		out := modelstest.Got[work.Effect](t)(s.Work.RecordResult(ctx, result, work.ResultFindings{}))
		kept := modelstest.Got[map[int64][]work.Artifact](t)(s.Work.ArtifactsOf(ctx, run.ID))[run.ID]
		stages := modelstest.Got[[]work.Stage](t)(s.Work.Stages(ctx, run.ID))
		if !out.AttemptAccepted || len(kept) != 0 || len(stages) != 1 {
			t.Fatalf("accepted: %t, files: %+v, stages: %+v", out.AttemptAccepted, kept, stages)
		}
		if why := stages[0].Result.ExtraKeys["profile.0.json.gz"]; !strings.Contains(why, "2.0 MB") ||
			!strings.Contains(why, "nearly full") {
			t.Errorf("the stage says of its file: %q", why)
		}
	})
}

// TestASweepFreesDiskSpace checks that a site with SQLite and a nearly full disk accepts submissions again after a
// sweep.
func TestASweepFreesDiskSpace(t *testing.T) {
	dir := t.TempDir()
	s, ctx := modelstest.OpenDir(t, dir), t.Context()
	for i := range 64 {
		_, err := s.SQL().ExecContext(ctx,
			"insert into blobs (hash, size, data, created_at) values ($1, 1048576, randomblob(1048576), datetime())", i)
		modelstest.Check(t, err)
	}
	size := func() (bytes int64) {
		for _, name := range []string{"warpboard.db", "warpboard.db-wal"} {
			info, err := os.Stat(filepath.Join(dir, name))
			modelstest.Check(t, err)
			bytes += info.Size()
		}
		return bytes
	}
	before := size()
	modelstest.Check(t, s.DeleteExpired(ctx, time.Now()))
	if after := size(); before < 64<<20 || after > 24<<20 {
		t.Errorf("%d MiB before the sweep, %d MiB after it", before>>20, after>>20)
	}
}
