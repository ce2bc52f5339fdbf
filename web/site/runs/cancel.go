package runs

import (
	"context"

	"warpboard/models"
)

// Cancel ends every run of a submission that has not ended. Conflict: all have.
func (s *Runs) Cancel(ctx context.Context, user models.User, submissionID int64) error {
	runs, err := s.Store.Runs(ctx, submissionID)
	if err != nil {
		return err
	}
	ended := 0
	for _, run := range runs {
		if run.State.Final() {
			continue
		}
		err := s.Dispatcher.Cancel(ctx, user, run.ID)
		if models.KindOf(err) == models.Conflict {
			continue // it ended by itself just now
		}
		if err != nil {
			return err
		}
		ended++
	}
	if ended == 0 {
		return models.Errorf(models.Conflict, "Submission %d has ended already.", submissionID)
	}
	return nil
}
