package submissions_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
)

func TestANoisyScoreMayBeRepeatedFreeOfCharge(t *testing.T) {
	cfg := models.Config{SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 2}}
	modelstest.EachConfig(t, cfg, func(t *testing.T, s *models.Store) {
		w := modelstest.NewWorld(t, s)
		again := submissions.NewSubmission{User: w.Ann, TaskID: w.Task.ID, Devices: w.Task.Devices,
			Mode: job.ModeRanked, Source: []byte("x")}
		noisy := boards.Interval{Processes: 1, Noisy: true}
		w.Measured(t, s, w.Ann, 100, boards.Interval{Processes: 5})
		w.Measured(t, s, w.Ann, 100, noisy)
		w.Measured(t, s, w.Ann, 100, noisy)
		w.Measured(t, s, w.Ann, 100, noisy) // four submissions within an hour, twice the limit
		_, _, err := s.Submissions.Submit(t.Context(), again)
		modelstest.WantKind(t, err, db.TooMany)

		w.Measured(t, s, w.Ben, 100, noisy)
		w.Measured(t, s, w.Ben, 100, boards.Interval{Processes: 5})
		w.Measured(t, s, w.Ben, 100, boards.Interval{Processes: 5})
		again.User = w.Ben
		_, _, err = s.Submissions.Submit(t.Context(), again)
		modelstest.WantKind(t, err, db.TooMany)
	})
}
