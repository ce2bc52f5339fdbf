package quota_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/quota"
	"warpboard/models/submissions"
)

// TestATeamSharesABudgetBesideEachOnes checks that the members of a team share its budget in addition to their own, and
// that today's use of a person moves with them to another team.
func TestATeamSharesABudgetBesideEachOnes(t *testing.T) {
	modelstest.EachConfig(t, atNoon(), func(t *testing.T, s *models.Store) {
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		ann, bob := modelstest.Person(t, s, "Ann", accounts.RoleUser), modelstest.Person(t, s, "Bob", accounts.RoleUser)
		task := modelstest.Task(t, s, admin, "sort", "H200")
		set := func(name string, person int64, seconds ...int) {
			t.Helper()
			n := quota.TeamChange{Name: name, PersonID: person}
			if len(seconds) > 0 {
				n.BudgetSeconds = &seconds[0]
			}
			if err := s.Quotas.SetTeam(t.Context(), admin, n); err != nil {
				t.Fatal(err)
			}
		}
		of := func(user accounts.User, name string, members int, used time.Duration, seconds int) {
			t.Helper()
			b, err := s.Quotas.BudgetOf(t.Context(), user)
			b.Team.ID = 0
			if want := (quota.Team{GPUTimeShare: quota.GPUTimeShare{Name: name, SecondsPerDay: seconds,
				UsedToday: used},
				MemberCount: members}); err != nil || !cmp.Equal(b.Team, want) {
				t.Errorf("%s has %+v, %v; want %+v", user.Name, b.Team, err, want)
			}
		}
		submit := func(user accounts.User) error {
			_, _, err := s.Submissions.Submit(t.Context(),
				submissions.NewSubmission{User: user, TaskID: task.ID, Devices: []string{"H200"}, Mode: job.ModeTest,
					Source: []byte("more")})
			return err
		}
		ten := 10
		for _, n := range []quota.TeamChange{{Name: "Kernels", BudgetSeconds: &ten}, {PersonID: ann.ID}} {
			if err := s.Quotas.SetTeam(t.Context(), ann, n); db.KindOf(err) != db.Forbidden {
				t.Errorf("a person changed a team: %v", err)
			}
		}
		if err := s.Quotas.SetTeam(t.Context(), admin, quota.TeamChange{Name: " "}); db.KindOf(err) != db.Invalid {
			t.Errorf("a team without a name: %v", err)
		}
		of(ann, "", 0, 0, 0)
		set("Kernels", ann.ID, 10)
		set("KERNELS", bob.ID)
		held(t, s, modelstest.SubmitSource(t, s, ann, task, "one")[0], 6*time.Second, job.OutcomePassed)
		of(bob, "Kernels", 2, 6*time.Second, 10)
		if err := submit(bob); err != nil {
			t.Errorf("while some of it is left: %v", err)
		}
		held(t, s, modelstest.SubmitSource(t, s, bob, task, "two")[0], 5*time.Second, job.OutcomePassed)
		for _, user := range []accounts.User{ann, bob} {
			err := submit(user)
			if db.KindOf(err) != db.TooMany ||
				!strings.Contains(err.Error(),
					"The budget of your team Kernels of 10 GPU-seconds a day is used up: its members' runs held GPUs for 11 s today") {
				t.Errorf("%s after the team's budget: %v", user.Name, err)
			}
		}
		set("Others", bob.ID) // Bob's use of today moves to the new team
		of(ann, "Kernels", 1, 6*time.Second, 10)
		of(bob, "Others", 1, 5*time.Second, 0)
		if err := submit(bob); err != nil {
			t.Errorf("in a team without a limit: %v", err)
		}
		list, err := s.Quotas.Teams(t.Context(), 10)
		if err != nil || len(list) != 2 || list[0].Name != "Kernels" || list[0].UsedToday != 6*time.Second ||
			list[1].MemberCount != 1 || list[1].People[0] != (quota.TeamMember{ID: bob.ID, Name: "Bob"}) {
			t.Errorf("teams: %+v, %v", list, err)
		}
		for _, left := range []struct {
			actor accounts.User
			team  int64
			want  db.ErrorKind
		}{{bob, list[1].ID, db.Forbidden}, {admin, list[1].ID + 1000, db.NotFound}} {
			if err := s.Quotas.RemoveFromTeam(t.Context(), left.actor, left.team, bob.ID); db.KindOf(err) != left.want {
				t.Errorf("%s takes Bob out of team %d: %v", left.actor.Name, left.team, err)
			}
		}
		// Bob's former team, his team, and his team again after he was removed
		for _, team := range []int64{list[0].ID, list[1].ID, list[1].ID} {
			if err := s.Quotas.RemoveFromTeam(t.Context(), admin, team, bob.ID); err != nil {
				t.Fatal(err)
			}
			if team == list[0].ID {
				of(bob, "Others", 1, 5*time.Second, 0)
			}
		}
		of(bob, "", 0, 0, 0)
		if err := s.Quotas.RemoveTeam(t.Context(), bob, list[0].ID); db.KindOf(err) != db.Forbidden {
			t.Errorf("a person removed a team: %v", err)
		}
		if err := s.Quotas.RemoveTeam(t.Context(), admin, list[0].ID); err != nil {
			t.Fatal(err)
		}
		of(ann, "", 0, 0, 0)
		if err := s.Quotas.RemoveTeam(t.Context(), admin, list[0].ID); db.KindOf(err) != db.NotFound {
			t.Errorf("a team that is gone: %v", err)
		}
	})
}
