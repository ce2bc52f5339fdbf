package api_test

import (
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestAMistypedKeyIsRefusedAndNotIgnored(t *testing.T) {
	s := webtest.NewEvalSite(t)
	creator := modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator)
	modelstest.Task(t, s.Cfg.Store, creator, "sort", "CPU")
	kernel := webtest.TorchModel("return x")
	_, made := s.Ask("POST", "/api/v1/evaluations", webtest.Object{"kernel": kernel})
	for _, test := range []struct {
		method, path string
		body         webtest.Object
		status       int
		says         string
	}{
		{"POST", "/evaluate", webtest.Object{"kernel": kernel, "num_trails": 3}, 400, `did you mean \"num_trials\"?`},
		{"POST", "/compare", webtest.Object{"ref_kernel": kernel, "custom_kernel": kernel, "a_tol": 3}, 400,
			`did you mean \"atol\"?`},
		{"POST", "/api/v1/evaluations", webtest.Object{"kernel": kernel, "num_trails": 3}, 422,
			`did you mean \"num_trials\"?`},
		{"POST", "/api/v1/evaluations", webtest.Object{"kernel": kernel, "problem": 3}, 422,
			"known are kernel, num_trials"},
		{"PATCH", "/api/v1/evaluations/" + made["id"].(string), webtest.Object{"share": true}, 422,
			`did you mean \"shared\"?`},
		{"POST", "/api/v1/submissions",
			webtest.Object{"task": "sort", "device": "CPU", "file_name": "a.cpp", "source": "x"}, 422,
			`did you mean \"devices\"?`},
		{"POST", "/api/v1/submissions", webtest.Object{"task": "sort", "Source": "x"}, 422, `did you mean \"source\"?`},
		{"POST", "/api/v1/submissions", webtest.Object{"task": "sort", "speed": 1}, 422,
			"known are task, devices, mode, file_name, source"},
		{"POST", "/api/v1/submissions", webtest.Object{"task": 5}, 422, `The key \"task\"`},
	} {
		resp, _ := s.Send(t.Context(), test.method, test.path, test.body)
		text := webtest.Body(t, resp)
		resp.Body.Close()
		if resp.StatusCode != test.status || !strings.Contains(text, test.says) {
			t.Errorf("%s %s %v: %s %s, want %d with %q", test.method, test.path, test.body, resp.Status, text,
				test.status, test.says)
		}
	}
	if list, err := s.Cfg.Store.Work.Evaluations(t.Context(), work.Requester{User: s.User}, 0, 9); err != nil ||
		len(list) != 1 {
		t.Errorf("a refused request made an evaluation: %v, %v", list, err)
	}
}

func TestABodyThatIsNoJSONObjectIsRefused(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for _, text := range []string{"", "null", "[]", "{} {}", "{", "task=sort"} {
		resp, answer := s.Ask("POST", "/api/v1/submissions", text)
		if resp.StatusCode != 422 || answer["code"] != "body" {
			t.Errorf("%q: %s %v", text, resp.Status, answer)
		}
	}
}

func TestARefusedBodySaysWhatIsWrongAndWhere(t *testing.T) {
	s := webtest.NewEvalSite(t)
	long := strings.Repeat("x", 1000)
	for _, test := range []struct{ path, body, contentType, says string }{
		{"/evaluations", `{"kernel": 1,, "a": 2}`, "application/json", `at byte 13: invalid character ','`},
		{"/evaluations", `{"kernel": 1`, "application/json", `at byte 12: unexpected EOF`},
		{"/evaluations", `{} {}`, "application/json", `at byte 3: Extra data`},
		{"/evaluations", `{}`, "application/x-www-form-urlencoded",
			`the Content-Type is \"application/x-www-form-urlencoded\", not application/json`},
		{"/submissions", `{}`, "application/x-www-form-urlencoded",
			`the Content-Type is \"application/x-www-form-urlencoded\", not application/json`},
		{"/submissions", `{"task": 1,}`, "application/json", `invalid character '}'`},
		{"/submissions", `[]`, "application/json", `The request is not a JSON object."`},
		{"/evaluations/batch", ``, "application/json", `: it ends where { must be.`},
		{"/evaluations/batch", `{"requests": null}`, "application/json", `: null comes where [ must be.`},
		{"/evaluations/batch", `{"` + long + `": 1}`, "application/json",
			`: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx comes where requests must be.`},
		{"/evaluations/batch", `{"requests": [{}], "shared": true}`, "application/json",
			`: shared comes where } must be.`},
	} {
		resp, answer := s.Ask("POST", "/api/v1"+test.path, test.body, "Content-Type", test.contentType)
		if text := webtest.JSONText(answer); resp.StatusCode != 422 || !strings.Contains(text, test.says) ||
			len(text) > 500 {
			t.Errorf("%s %.40s: %s %.500s, want %s", test.path, test.body, resp.Status, text, test.says)
		}
	}
	_, answer := s.Ask("POST", "/evaluate", `{"kernel": 1,, "a": 2}`, "Content-Type", "application/json")
	if text := webtest.JSONText(answer); !strings.Contains(text, `"loc":["body",13]`) {
		t.Errorf("the place of a mistake: %s", text)
	}
}
