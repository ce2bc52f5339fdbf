package runs

import (
	"context"

	"warpboard/evaluator/job"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/views"
)

// confirmation is what is known of measuring a ranked run again; nil: it was not.
func (s *Runs) confirmation(ctx context.Context, run work.Run) (*views.Confirmation, error) {
	if run.Mode != job.ModeRanked || run.ScoreNS == nil {
		return nil, nil
	}
	c, err := s.site.Store.ConfirmationOf(ctx, run.ID)
	switch {
	case db.KindOf(err) == db.NotFound:
		return nil, nil
	case err != nil:
		return nil, err
	}
	ns := func(p *float64) float64 {
		if p == nil {
			return 0
		}
		return *p
	}
	shown := views.Confirmation{RunID: run.ID, OtherID: c.ChallengerID, OtherSubmission: c.ChallengerSubmission, Waiting: c.EndedAt == nil, OneUnit: c.OneUnit, Outcome: c.Outcome,
		Was: c.HolderWas, Is: ns(c.HolderNS), OtherWas: c.ChallengerWas, OtherIs: ns(c.ChallengerNS)}
	if run.ID == c.ChallengerID {
		shown.Challenger, shown.OtherID, shown.OtherSubmission = true, c.HolderID, c.HolderSubmission
		shown.Was, shown.Is, shown.OtherWas, shown.OtherIs = shown.OtherWas, shown.OtherIs, shown.Was, shown.Is
	}
	return &shown, nil
}
