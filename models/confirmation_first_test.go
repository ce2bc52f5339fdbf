package models_test

import (
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

// TestTheFirstAfterADecisionIsConfirmed checks that a run which takes 1st place by a decision about other runs, such as
// a disqualification, is confirmed at once.
func TestTheFirstAfterADecisionIsConfirmed(t *testing.T) {
	for name, decide := range map[string]func(t *testing.T, s *models.Store, w world, first []work.Run,
		held work.Run) (challenger int64){
		"the first are disqualified": func(t *testing.T, s *models.Store, w world, first []work.Run, _ work.Run) int64 {
			for _, run := range first[:2] {
				modelstest.Check(t, modelstest.Second(s.Disqualify(t.Context(), w.Admin, run.ID, "It knew.")))
			}
			return first[2].ID
		},
		"the first are deleted": func(t *testing.T, s *models.Store, w world, first []work.Run, _ work.Run) int64 {
			for _, run := range first[:2] {
				modelstest.Check(t, modelstest.Second(s.DeleteSubmission(t.Context(), w.Admin, run.SubmissionID,
					"It knew.")))
			}
			return first[2].ID
		},
		"a held run is fine": func(t *testing.T, s *models.Store, w world, _ []work.Run, held work.Run) int64 {
			changes := modelstest.Got[[]boards.ChangedBoard](t)(s.DismissFlags(t.Context(), w.Admin, held.ID,
				"It is right."))
			if n := modelstest.Got[int64](t)(s.Boards.ChangeNumber(t.Context(), w.Task.VersionID,
				"CPU")); len(changes) != 1 || changes[0].ChangeNumber != n {
				t.Errorf("pages are told of %+v, and the board is at %d", changes, n)
			}
			return held.ID
		},
		"a run is reinstated": func(t *testing.T, s *models.Store, w world, _ []work.Run, held work.Run) int64 {
			modelstest.Check(t, modelstest.Second(s.Disqualify(t.Context(), w.Admin, held.ID, "It knew.")))
			modelstest.Check(t, modelstest.Second(s.Reinstate(t.Context(), w.Admin, held.ID, "It did not.")))
			return held.ID
		},
		"a rejudge is applied": func(t *testing.T, s *models.Store, w world, first []work.Run, _ work.Run) int64 {
			modelstest.Check(t, modelstest.Second(s.BeginRerun(t.Context(), w.Admin, w.Task.ID, "Test 2 was wrong.")))
			for _, run := range reruns(t, s) {
				measureAgain(t, s, run, float64(1000-10*run.ID), "",
					map[int64]string{first[0].ID: "Wrong answer in test 2.", first[3].ID: "Wrong."}[*run.ProfileOf])
			}
			modelstest.Check(t, modelstest.Second(s.ApplyRerun(t.Context(), w.Admin, w.Task.ID)))
			return first[2].ID
		},
		"new software measured the board": func(t *testing.T, s *models.Store, w world, first []work.Run,
			_ work.Run) int64 {
			beat(t, s, "580")
			list := reruns(t, s)
			for i, run := range list {
				if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(work) != len(list)-i {
					t.Errorf("before all are measured %d wait", len(work))
				}
				if i < len(list)-1 {
					measureAgain(t, s, run, []float64{900, 800, 850}[i], "580", "")
				} else { // the last rerun is cancelled, so no result changes the board
					modelstest.Check(t, modelstest.Second(s.Work.CancelRun(t.Context(), w.Admin, run.ID)))
				}
			}
			return first[1].ID
		},
	} {
		t.Run(name, func(t *testing.T) {
			confirming(t, func(t *testing.T, s *models.Store, w world) {
				var first []work.Run
				for i, who := range []accounts.User{modelstest.Person(t, s, "Cleo", accounts.RoleUser),
					modelstest.Person(t, s, "Dora", accounts.RoleUser), w.Ann, w.Ben} {
					first = append(first, w.ScoreIn(t, s, who, 1000+100*float64(i), ""))
					if i == 1 {
						for range 4 {
							turnIn(t, s, 1000, "g", "")
						}
					}
				}
				held := w.held(t, s, modelstest.Person(t, s, "Emil", accounts.RoleUser), 500, 1.4)
				if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(work) != 0 {
					t.Fatalf("%+v waits", work)
				}
				challenger := decide(t, s, w, first, held)
				c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(), challenger))[challenger]
				if c.ChallengerID != challenger || c.EndedAt != nil || turn(t, s).OrderID == nil {
					t.Errorf("the last confirmation of run %d is %+v", challenger, c)
				}
			})
		})
	}
}

// TestADisqualifiedRunEndsItsConfirmation checks that the next entry is confirmed after the 1st place was disqualified
// during its confirmation.
func TestADisqualifiedRunEndsItsConfirmation(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		for i, who := range []string{"Cleo", "Dora"} {
			w.Score(t, s, modelstest.Person(t, s, who, accounts.RoleUser), 1000+100*float64(i))
		}
		for range 4 {
			measureTurn(t, s, 1000, "gpu0")
		}
		anns := w.Score(t, s, w.Ann, 900)
		bens := w.Score(t, s, w.Ben, 910)
		modelstest.Check(t, modelstest.Second(s.Disqualify(t.Context(), w.Admin, anns.ID, "It knew.")))
		measureTurn(t, s, 1000, "gpu0")
		failTurn(t, s, job.Failure{Reason: "The worker is gone.", IsInfrastructureError: true})
		if c := modelstest.Got[map[int64]models.ConfirmationSides](t)(s.Confirmations(t.Context(),
			bens.ID))[bens.ID]; c.ChallengerID != bens.ID || c.EndedAt != nil {
			t.Errorf("the last confirmation of the first is %+v", c)
		}
	})
}

// TestTheFirstIsNotConfirmedAgainstAnOlderEpoch checks that entries with older software are no holders, because their
// scores are not comparable.
func TestTheFirstIsNotConfirmedAgainstAnOlderEpoch(t *testing.T) {
	confirming(t, func(t *testing.T, s *models.Store, w world) {
		w.ScoreIn(t, s, w.Ann, 100, "570")
		w.ScoreIn(t, s, w.Ben, 90, "580")
		if work := modelstest.Got[[]work.QueuedWork](t)(s.Work.WaitingQueue(t.Context())); len(work) != 0 {
			t.Errorf("%+v waits", work)
		}
	})
}
