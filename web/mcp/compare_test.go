package mcp_test

import (
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestCompareRunsTakesSubmissions(t *testing.T) {
	s := webtest.NewEvalSite(t)
	creator := modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator)
	two := modelstest.Submit(t, s.Cfg.Store, creator, modelstest.Task(t, s.Cfg.Store, creator, "scan", "CPU", "H200"))
	task := modelstest.Task(t, s.Cfg.Store, creator, "sort", "CPU")
	var mine [2]work.Run
	for i := range mine {
		mine[i] = modelstest.Submit(t, s.Cfg.Store, s.User, task)[0]
		modelstest.Finish(t, s.Cfg.Store, mine[i], float64(5000-1000*i))
	}
	if mine[0].ID == mine[0].SubmissionID {
		t.Fatal("the run has the number of its submission: this test shows nothing")
	}
	a := s.Agent(t, s.Token)
	compared, refused := a.Call("compare_runs", webtest.Object{"a": mine[0].SubmissionID, "b": mine[1].SubmissionID})
	if refused != "" || len(compared["cases"].([]any)) == 0 {
		t.Fatalf("%v %s", compared, refused)
	}
	for i, side := range []string{"a", "b"} {
		got := compared[side].(webtest.Object)
		if got["submission"] != float64(mine[i].SubmissionID) || got["run"] != float64(mine[i].ID) ||
			got["user"] != "ada" {
			t.Errorf("%s is %v, want run %d of submission %d by ada", side, got, mine[i].ID, mine[i].SubmissionID)
		}
	}
	for _, test := range []struct {
		arguments webtest.Object
		says      string
	}{
		{webtest.Object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID},
			"has runs on CPU, H200: choose one with device"},
		{webtest.Object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID, "device": "H200"},
			`has no run on "H200": it has runs on CPU`},
		{webtest.Object{"a": mine[0].SubmissionID, "b": 9999}, "submission 9999"},
	} {
		if compared, refused := a.Call("compare_runs", test.arguments); !strings.Contains(refused, test.says) {
			t.Errorf("%v: %v %q, want %q", test.arguments, compared, refused, test.says)
		}
	}
	one := webtest.Object{"a": two[0].SubmissionID, "b": mine[0].SubmissionID, "device": "CPU"}
	if compared, refused := a.Call("compare_runs", one); refused != "" ||
		compared["a"].(webtest.Object)["submission"] != float64(two[0].SubmissionID) {
		t.Errorf("%v %s", compared, refused)
	}
}
