package work_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestAnEvaluationIsItsOwnersAndTheAdmins(t *testing.T) {
	ada, eve, root := accounts.User{ID: 1}, accounts.User{ID: 2}, accounts.User{ID: 3, Role: accounts.RoleAdmin}
	persons := work.Evaluation{UserID: 1, Owner: "token:1"}
	anonymous := work.Evaluation{Owner: "key:1"}
	nobodys := work.Evaluation{}
	shared := work.Evaluation{UserID: 1, ReadableByAnyone: true}
	for name, test := range map[string]struct {
		asker        work.Requester
		e            work.Evaluation
		read, change bool
	}{
		"its person":                  {work.Requester{User: ada, Owner: "person:1"}, persons, true, true},
		"another person":              {work.Requester{User: eve, Owner: "token:1"}, persons, false, false},
		"an admin":                    {work.Requester{User: root}, persons, true, true},
		"a visitor":                   {work.Requester{}, persons, false, false},
		"a visitor with its name":     {work.Requester{Owner: "token:1"}, persons, false, false},
		"a visitor, shared":           {work.Requester{}, shared, true, false},
		"its key":                     {work.Requester{Owner: "key:1"}, anonymous, true, true},
		"another key":                 {work.Requester{Owner: "key:2"}, anonymous, false, false},
		"no key":                      {work.Requester{}, anonymous, false, false},
		"a person with no such key":   {work.Requester{User: eve, Owner: "key:1"}, anonymous, false, false},
		"a visitor and no one's":      {work.Requester{}, nobodys, false, false},
		"an admin and an old one":     {work.Requester{User: root}, nobodys, true, true},
		"another person and no one's": {work.Requester{User: eve, Owner: "person:2"}, nobodys, false, false},
	} {
		if read, change := test.asker.MayRead(test.e), test.asker.MayChange(test.e); read != test.read ||
			change != test.change {
			t.Errorf("%s: may read %t and change %t, want %t and %t", name, read, change, test.read, test.change)
		}
	}
}

func TestAListHoldsOnesOwnEvaluationsAndSharingIsASwitch(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		make := func(owner string) work.Evaluation {
			t.Helper()
			return modelstest.Got[work.Evaluation](t)(s.Work.SubmitEvaluation(ctx,
				work.NewEvaluation{Owner: owner, Caller: "address:10.0.0.9",
					Kind: "evaluate", Device: "CPU", Request: json.RawMessage(`{}`)}))
		}
		mine, _ := make("key:1"), make("key:2")
		make("")
		for owner, want := range map[string][]string{"key:1": {mine.ID}, "key:3": nil, "": nil} {
			var ids []string
			for _, e := range modelstest.Got[[]work.Evaluation](t)(s.Work.Evaluations(ctx,
				work.Requester{Owner: owner}, 0,
				10)) {
				ids = append(ids, e.ID)
			}
			if diff := cmp.Diff(want, ids); diff != "" {
				t.Errorf("the list of %q: %s", owner, diff)
			}
		}
		open := modelstest.Got[work.Evaluation](t)(s.Work.SetEvaluationShared(ctx, mine.ID, true))
		if !open.ReadableByAnyone || open.ChangeNumber <= mine.ChangeNumber {
			t.Errorf("shared: %+v", open)
		}
		attempt := begun(t, s, mine) // a starting attempt must not reset the sharing
		if e := modelstest.Got[work.Evaluation](t)(s.Work.Evaluation(ctx, mine.ID)); !e.ReadableByAnyone {
			t.Error("the switch did not stay")
		}
		if closed := modelstest.Got[work.Evaluation](t)(s.Work.SetEvaluationShared(ctx, mine.ID,
			false)); closed.ReadableByAnyone {
			t.Errorf("not shared any more: %+v", closed)
		}
		modelstest.WantKind(t, modelstest.Second(s.Work.SetEvaluationShared(ctx, "none", true)), db.NotFound)
		modelstest.Check(t, modelstest.Second(s.Work.RecordResult(ctx, modelstest.Evaluated(attempt, "{}"),
			modelstest.Completed())))
		modelstest.Check(t, modelstest.Second(s.SQL().ExecContext(ctx, "update evaluations set queued_at = '2020-01-01 00:00:00'")))
		for _, owner := range []string{"", "key:2", "key:1"} {
			modelstest.Check(t, s.Work.PruneEvaluationsOf(ctx, owner, time.Now().Add(time.Second)))
			if _, err := s.Work.Evaluation(ctx, mine.ID); (err == nil) != (owner != "key:1") {
				t.Errorf("after %q has cleaned up: %v", owner, err)
			}
		}
	})
}
