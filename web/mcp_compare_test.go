package web

import (
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestCompareRunsTakesSubmissions(t *testing.T) {
	s := newEvalSite(t)
	creator := modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator)
	two := modelstest.Submit(t, s.site.Store, creator, modelstest.Task(t, s.site.Store, creator, "scan", "CPU", "H200"))
	task := modelstest.Task(t, s.site.Store, creator, "sort", "CPU")
	var mine [2]work.Run
	for i := range mine {
		mine[i] = modelstest.Submit(t, s.site.Store, s.user, task)[0]
		modelstest.Finish(t, s.site.Store, mine[i], float64(5000-1000*i))
	}
	if mine[0].ID == mine[0].SubmissionID {
		t.Fatal("the run has the number of its submission: this test shows nothing")
	}
	a := s.agent(t, s.token)
	compared, refused := a.call("compare_runs", object{"a": mine[0].SubmissionID, "b": mine[1].SubmissionID})
	if refused != "" || len(compared["cases"].([]any)) == 0 {
		t.Fatalf("%v %s", compared, refused)
	}
	for i, side := range []string{"a", "b"} {
		got := compared[side].(object)
		if got["submission"] != float64(mine[i].SubmissionID) || got["run"] != float64(mine[i].ID) || got["user"] != "ada" {
			t.Errorf("%s is %v, want run %d of submission %d by ada", side, got, mine[i].ID, mine[i].SubmissionID)
		}
	}
	for _, test := range []struct {
		arguments object
		says      string
	}{
		{object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID}, "has runs on CPU, H200: say which with device"},
		{object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID, "device": "H200"}, `has no run on "H200": it has runs on CPU`},
		{object{"a": mine[0].SubmissionID, "b": 9999}, "submission 9999"},
	} {
		if compared, refused := a.call("compare_runs", test.arguments); !strings.Contains(refused, test.says) {
			t.Errorf("%v: %v %q, want %q", test.arguments, compared, refused, test.says)
		}
	}
	one := object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID, "device": "CPU"}
	if compared, refused := a.call("compare_runs", one); refused != "" || compared["a"].(object)["submission"] != float64(two[0].SubmissionID) {
		t.Errorf("%v %s", compared, refused)
	}
}
