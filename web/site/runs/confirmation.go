package runs

import (
	"warpboard/evaluator/harness"
	"warpboard/models"
	"warpboard/models/samples"
	"warpboard/tasks"
	"warpboard/views"
)

// shownConfirmation returns the confirmation that a run's card shows. It returns nil if there is none, or if the viewer
// may not see the task of the other run.
func shownConfirmation(c models.ConfirmationSides, seen RunAccess) *views.Confirmation {
	if c.ID == 0 || !seen.MaySeeTask {
		return nil
	}
	run := seen.Run
	ns := func(p *float64) float64 {
		if p == nil {
			return 0
		}
		return *p
	}
	shown := views.Confirmation{RunID: run.ID, OtherID: c.ChallengerID, OtherSubmission: c.ChallengerSubmission, Waiting: c.EndedAt == nil, OneUnit: c.CountedOnOneSlot, Outcome: c.Reason,
		Turns: c.EndedTurnCount, EnoughTurns: 2 * models.MinUndisturbedTurns, MostTurns: models.MaxTurnsPerSide,
		Was: c.HolderScoreBefore, Is: ns(c.HolderNS), OtherWas: c.ChallengerScoreBefore, OtherIs: ns(c.ChallengerNS)}
	if run.ID == c.ChallengerID {
		shown.Challenger, shown.OtherID, shown.OtherSubmission = true, c.HolderID, c.HolderSubmission
		shown.Was, shown.Is, shown.OtherWas, shown.OtherIs = shown.OtherWas, shown.OtherIs, shown.Was, shown.Is
	}
	return &shown
}

// scoreTurns returns the turns (confirmation runs that alternate with those of another entry) on which a run's score is
// based, with the case times of the newest turn. If the turns belong to another submission and the viewer may see the
// task, it adds that submission. It returns nil if the score is not based on turns.
func scoreTurns(ranking tasks.Ranking, of cardSource) *views.Turns {
	run, list := of.Run, of.confirmation.CountedTurns
	if len(list) == 0 || !run.MayBeEntry() {
		return nil
	}
	turns := &views.Turns{Score: views.Turn{NS: *run.ScoreNS, Interval: run.Interval}}
	for _, turn := range list {
		turns.Score.EachNS = append(turns.Score.EachNS, turn.ScoreNS)
	}
	if other := of.confirmation.NewestTurnSubmission; other != run.SubmissionID && of.MaySeeTask {
		turns.Of, turns.At = other, list[len(list)-1].EndedAt
		// 0 if the run's own stages have no cases
		turns.FirstNS, _ = harness.Score(ranking, StageOfScore(of.Stages).Cases)
	}
	for i, c := range StageOfScore(of.newestTurnStages).Cases {
		if all, each := samples.ConfirmedCaseTimes(list, i); each != nil {
			turns.Cases = append(turns.Cases, views.Turn{
				Spec:     c.SpecLine,
				NS:       all.ScoreNS,
				Interval: all.Interval,
				EachNS:   each,
			})
		}
	}
	return turns
}
