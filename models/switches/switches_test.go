package switches_test

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/switches"
	"warpboard/models/work"
)

// TestSwitchedOffPartsRefuseWithTheAdminsSentence checks that a part that is off refuses work with the admin's
// sentence, and accepts work again after TurnOn.
func TestSwitchedOffPartsRefuseWithTheAdminsSentence(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		admin, ann := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		task, other := modelstest.Task(t, s, admin, "sort", "CPU"), modelstest.Task(t, s, admin, "sum", "CPU")
		submit := func(id int64) error {
			_, _, err := s.Submissions.Submit(t.Context(),
				submissions.NewSubmission{User: ann, TaskID: id, Devices: []string{"CPU"}, Mode: job.ModeTest,
					Source: []byte("x")})
			return err
		}
		evaluate := func(int64) error {
			_, err := s.Work.SubmitEvaluation(t.Context(), work.NewEvaluation{User: ann, Owner: "o", Caller: "c",
				Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{}`), Sources: []byte("x")})
			return err
		}
		for what, tries := range map[string]struct {
			refused, works func(int64) error
			id, worksID    int64
		}{
			switches.SubmissionsSwitch:       {submit, evaluate, task.ID, 0},
			switches.EvaluationsSwitch:       {evaluate, submit, 0, task.ID},
			switches.TaskSwitchName(task.ID): {submit, submit, task.ID, other.ID},
		} {
			if err := s.Switches.TurnOff(t.Context(), ann, what, "No."); db.KindOf(err) != db.Forbidden {
				t.Errorf("a person switched %s off: %v", what, err)
			}
			if err := s.Switches.TurnOff(t.Context(), admin, what, " "); db.KindOf(err) != db.Invalid {
				t.Errorf("%s is off without a reason: %v", what, err)
			}
			if err := s.Switches.TurnOff(t.Context(), admin, what, "The room is being cooled."); err != nil {
				t.Fatal(err)
			}
			if err := tries.refused(tries.id); db.KindOf(err) != db.Forbidden ||
				!strings.Contains(err.Error(), "The room is being cooled.") {
				t.Errorf("%s is off: %v", what, err)
			}
			if err := tries.works(tries.worksID); err != nil {
				t.Errorf("%s is off, and something else is refused: %v", what, err)
			}
			if loads, err := s.Work.ReadSiteLoad(t.Context()); err != nil ||
				!strings.HasSuffix(switches.FirstOffSentence(loads.OffParts, "", what),
					"for now. The room is being cooled.") {
				t.Errorf("%s is off, and the loads say: %+v, %v", what, loads.OffParts, err)
			}
			if off, err := s.Switches.OffParts(t.Context()); err != nil || len(off) != 1 || off[0].PartName != what ||
				off[0].OffBy != "Root" {
				t.Errorf("off are %+v, %v", off, err)
			}
			if err := s.Switches.TurnOn(t.Context(), admin, what); err != nil {
				t.Fatal(err)
			}
			if err := tries.refused(tries.id); err != nil {
				t.Errorf("%s is on again: %v", what, err)
			}
		}
	})
}
