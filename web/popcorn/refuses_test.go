package popcorn_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/web"
	"warpboard/web/popcorn/popcorntest"
	"warpboard/web/webtest"
)

// TestPopcornRefusesInASentenceAndKeepsNothing checks that popcorn-cli prints the reason for each refusal, and that the
// site stores no submission.
func TestPopcornRefusesInASentenceAndKeepsNothing(t *testing.T) {
	s := webtest.NewStage(t, "CPU", "H100-SXM", "H100-PCIe")
	s.Close(modelstest.Task(t, s.Cfg.Store, s.Creator, "closed", "CPU"))
	s.Hide(modelstest.Task(t, s.Cfg.Store, s.Creator, "hidden", "CPU"))
	c, small := s.Popcorn(s.User), []byte("int x;\n")
	stale, none := &popcorntest.Client{Base: c.Base, Token: "wb_stale"}, &popcorntest.Client{Base: c.Base}
	how := fmt.Sprintf(
		" Create a token at %s/me#tokens and write the line \"cli_id: TOKEN\" into ~/.popcorn.yaml.",
		s.URL,
	)
	accept := func(c *popcorntest.Client, board, gpu, mode, file string, source []byte) func() error {
		return func() error {
			_, _, err := c.Accept(t.Context(), board, gpu, mode, file, source)
			_, streamed := c.Stream(t.Context(), board, gpu, mode, file, source, nil)
			// the site may refuse the request before it has received the whole body
			for tries := 0; errors.Is(streamed, syscall.EPIPE) && tries < 3; tries++ {
				_, streamed = c.Stream(t.Context(), board, gpu, mode, file, source, nil)
			}
			if webtest.Refused(streamed) != webtest.Refused(err) {
				t.Errorf("streamed: %v, else %v", streamed, err)
			}
			return err
		}
	}
	for name, tt := range map[string]struct {
		do   func() error
		want string
	}{
		"no token":           {accept(none, "vectoradd", "CPU", "test", "a.cpp", small), "400 The request has no X-Popcorn-Cli-Id header." + how},
		"no token to list":   {func() error { _, err := none.List(t.Context(), "vectoradd", 0); return err }, "400 The request has no X-Popcorn-Cli-Id header." + how},
		"stale token":        {accept(stale, "vectoradd", "CPU", "test", "a.cpp", small), "401 The token is not valid: it is unknown, has expired, or was revoked." + how},
		"stale, of a list":   {func() error { _, err := stale.Leaderboards(t.Context()); return err }, "401 The token is not valid: it is unknown, has expired, or was revoked." + how},
		"unknown board":      {accept(c, "nothing", "CPU", "test", "a.cpp", small), `404 There is no task "nothing".`},
		"hidden board":       {accept(c, "hidden", "CPU", "test", "a.cpp", small), `404 There is no task "hidden".`},
		"GPUs of none":       {func() error { _, err := c.GPUs(t.Context(), "nothing"); return err }, `404 There is no task "nothing".`},
		"unknown GPU":        {accept(c, "vectoradd", "MI300", "test", "a.cpp", small), "422 Vectoradd cannot run on \"MI300\""},
		"two of a family":    {accept(c, "vectoradd", "H100", "test", "a.cpp", small), "422 H100 matches several devices here: choose H100-SXM or H100-PCIe."},
		"unknown mode":       {accept(c, "vectoradd", "CPU", "fast", "a.cpp", small), `422 There is no mode "fast": choose test, benchmark, leaderboard, profile or sanitize.`},
		"after the end":      {accept(c, "closed", "CPU", "test", "a.cpp", small), "403 "},
		"empty":              {accept(c, "vectoradd", "CPU", "test", "a.cpp", nil), "422 This cannot be submitted"},
		"another language":   {accept(c, "vectoradd", "CPU", "test", "a.py", small), "422 The task takes a file ending in .cpp"},
		"of another board":   {accept(c, "vectoradd", "CPU", "test", "a.cpp", []byte("//!POPCORN leaderboard softmax\n")), `422 The source is for the task "softmax" but was sent to "vectoradd".`},
		"profile of a CPU":   {accept(c, "vectoradd", "CPU", "profile", "a.cpp", small), "422 A run on a CPU has no profile"},
		"2 MB":               {accept(c, "vectoradd", "CPU", "test", "a.cpp", make([]byte, 2<<20)), "422 This cannot be submitted"},
		"50 MB":              {accept(c, "vectoradd", "CPU", "test", "a.cpp", make([]byte, 50<<20)), "413 The request is larger than the 4.0\u00a0MiB allowed here."},
		"50 MB of a visitor": {accept(none, "vectoradd", "CPU", "test", "a.cpp", make([]byte, 50<<20)), "400 The request has no X-Popcorn-Cli-Id header." + how},
		"register":           {func() error { return c.Register(t.Context(), "discord") }, "403 popcorn-cli can register with GPU MODE only, not with this site." + how},
		"join":               {func() error { _, err := c.Join(t.Context(), "abc"); return err }, "404 This invite code is not valid"},
		"queue of no GPU":    {func() error { _, err := c.Get(t.Context(), "/runner_queue/MI300"); return err }, `404 No worker has the GPU "MI300"`},
		"board of no GPU":    {func() error { _, err := c.Get(t.Context(), "/submissions/vectoradd/MI300"); return err }, "404 Vectoradd has no board"},
		"no number":          {func() error { _, err := c.Get(t.Context(), "/user/submissions/x"); return err }, `404 "x" is not the number of a submission.`},
		"no submission":      {func() error { _, err := c.Show(t.Context(), 77); return err }, "404 There is no submission 77."},
		"nothing to delete":  {func() error { _, err := c.Delete(t.Context(), 77); return err }, "404 There is no submission 77."},
		"no address":         {func() error { _, err := c.Get(t.Context(), "/health"); return err }, "404 There is nothing at this address."},
		"another method":     {func() error { _, err := c.Get(t.Context(), "/submission/vectoradd/CPU/test"); return err }, "405 This address does not accept this kind of request."},
	} {
		if got := webtest.Refused(tt.do()); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
	if list, err := s.Cfg.Store.Submissions.Submissions(t.Context(), s.Creator, submissions.SubmissionFilter{}); err != nil ||
		len(list) != 0 {
		t.Errorf("%d submissions were kept, %v", len(list), err)
	}
}

// TestPopcornRefusesFormsThatItCannotRead checks the messages for invalid forms.
func TestPopcornRefusesFormsThatItCannotRead(t *testing.T) {
	s := webtest.NewStage(t)
	token, b := s.Popcorn(s.User).Token, s.Browser()
	const form = "multipart/form-data; boundary=x"
	part := func(name string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"" + name + "\"; filename=\"a.cpp\"\r\n\r\nint x;\r\n"
	}
	for name, tt := range map[string]struct{ kind, body, want string }{
		"no form":        {"text/plain", "int x;", "Send the source as a form"},
		"JSON":           {"application/json", `{"file": "int x;"}`, "Send the source as a form"},
		"no boundary":    {"multipart/form-data", part("file") + "--x--\r\n", "The form could not be read"},
		"cut off":        {form, part("file")[:70], "The form could not be read"},
		"another field":  {form, part("source") + "--x--\r\n", `The form has no file under the name "file".`},
		"two of a name":  {form, part("file") + part("file") + "--x--\r\n", "Two of the files are called"},
		"nothing at all": {form, "", "The form could not be read"},
	} {
		for _, path := range []string{"/popcorn/submission/vectoradd/CPU/test", "/popcorn/vectoradd/CPU/test"} {
			resp := b.Send(
				http.MethodPost,
				path,
				strings.NewReader(tt.body),
				"X-Popcorn-Cli-Id",
				token,
				"Content-Type",
				tt.kind,
			)
			var answer map[string]string
			if text := webtest.Body(t, resp); json.Unmarshal([]byte(text), &answer) != nil ||
				resp.StatusCode != http.StatusUnprocessableEntity ||
				!strings.Contains(answer["detail"], tt.want) ||
				len(answer) != 1 {
				t.Errorf("%s: %s %s, want %q", name, resp.Status, text, tt.want)
			}
		}
	}
	for _, method := range []string{http.MethodPost, http.MethodGet, http.MethodDelete} {
		resp := b.Send(method, "/popcorn/admin/stats", nil, "Authorization", "Bearer secret")
		if text := webtest.Body(t, resp); resp.StatusCode != http.StatusForbidden ||
			!strings.Contains(text, `{"detail":"Admins of this site use `+s.URL+`/operate`) {
			t.Errorf("an admin's %s: %s %s", method, resp.Status, text)
		}
	}
}

// TestPopcornsTokenCountsForPopcornAlone checks that other paths ignore the header X-Popcorn-Cli-Id, and that paths
// below /popcorn ignore a browser's session.
func TestPopcornsTokenCountsForPopcornAlone(t *testing.T) {
	s := webtest.NewStage(t)
	token := s.Popcorn(s.User).Token
	for _, path := range []string{"/api/v1/me", "/api/v1/submissions"} {
		webtest.WantProblem(
			t,
			s.Browser().Get(path, "X-Popcorn-Cli-Id", token),
			http.StatusUnauthorized,
			"unauthorized",
		)
	}
	ada := s.SignedIn("ada", accounts.RoleUser)
	for _, path := range []string{"/popcorn/submission/vectoradd/CPU/test", "/popcorn/vectoradd/CPU/test"} {
		resp := ada.Send(http.MethodPost, path, strings.NewReader("x"), "X-CSRF-Token", ada.CSRF())
		webtest.WantStatus(t, resp, http.StatusBadRequest)
	}
	webtest.WantStatus(t, ada.Get("/popcorn/user/submissions"), http.StatusBadRequest)
	if resp := ada.Get("/popcorn"); resp.StatusCode != http.StatusOK || resp.Request.URL.Path != "/docs/kernelbot" {
		t.Errorf("/popcorn shows %s %s", resp.Status, resp.Request.URL)
	}
}

// TestPopcornKeepsTheLimitsOfSubmissions checks that the limits also apply to submissions by popcorn-cli.
func TestPopcornKeepsTheLimitsOfSubmissions(t *testing.T) {
	store, err := models.Open(t.Context(), models.Config{
		Dir:              t.TempDir(),
		SubmissionLimits: submissions.SubmissionLimits{SubmissionsPerHour: 1},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	s := &webtest.Stage{Site: webtest.StartAt(t, "127.0.0.1:0", store)}
	s.People(t)
	c := s.Popcorn(s.User)
	id, _, err := c.Accept(t.Context(), "vectoradd", "CPU", "test", "a.cpp", []byte("int x;\n"))
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := c.Accept(t.Context(), "vectoradd", "CPU", "test", "a.cpp", []byte("int y;\n")); !strings.HasPrefix(
		webtest.Refused(err),
		"429 ",
	) {
		t.Errorf("the second: %v", err)
	}
	if _, err := c.Stream(t.Context(), "vectoradd", "CPU", "test", "a.cpp", []byte("int y;\n"), nil); !strings.HasPrefix(
		webtest.Refused(err),
		"429 ",
	) {
		t.Errorf("the second, streamed: %v", err)
	}
	if _, err := c.Delete(t.Context(), id); webtest.Refused(
		err,
	) != fmt.Sprintf(
		"409 Submission %d still counts for the hourly limit; it can be deleted an hour after it was made.",
		id,
	) {
		t.Errorf("deleted: %v", err)
	}
}

// TestPopcornIsBelowThePathOfASite checks that popcorn-cli works if POPCORN_API_URL contains the path of the site.
func TestPopcornIsBelowThePathOfASite(t *testing.T) {
	s := &webtest.Stage{
		Site: webtest.Start(t, func(c *web.Config) { c.BaseURL = "https://lab.example.org" + webtest.LabPath }),
	}
	s.People(t)
	c := s.Popcorn(s.User)
	c.Base = s.URL + webtest.LabPath + "/popcorn"
	if list, err := c.Leaderboards(t.Context()); err != nil || len(list) != 1 {
		t.Errorf("%+v, %v", list, err)
	}
	if err := c.Register(t.Context(), "github"); !strings.Contains(
		webtest.Refused(err),
		"https://lab.example.org/warpboard/me#tokens",
	) {
		t.Error(err)
	}
}

// TestNoFormOfPopcornCostsMoreThanARequestMay sends forms of 4 MB, for example with many parts. The site must refuse
// each cheaply and with a short answer.
func TestNoFormOfPopcornCostsMoreThanARequestMay(t *testing.T) {
	const size = 4_000_000
	s := webtest.NewStage(t)
	b, token := s.Browser(), s.Popcorn(s.User).Token
	part := func(head, text string) string {
		return "--x\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.cpp\"\r\n" + head + "\r\n" + text + "\r\n"
	}
	for name, form := range map[string]string{
		"parts":              strings.Repeat(part("", ""), size/len(part("", ""))) + "--x--\r\n",
		"headers of a part":  part(strings.Repeat("A: b\r\n", size/6), "") + "--x--\r\n",
		"one long header":    part("A: "+strings.Repeat("b", size)+"\r\n", "") + "--x--\r\n",
		"directives":         part("", "//!POPCORN gpus "+webtest.DeviceNames(150_000)) + "--x--\r\n",
		"a form without end": part("", strings.Repeat("\r\n--", size/4)),
	} {
		costtest.Check(t, name, func() {
			resp := b.Send(
				http.MethodPost,
				"/popcorn/submission/vectoradd/CPU/test",
				strings.NewReader(form),
				"X-Popcorn-Cli-Id",
				token,
				"Content-Type",
				"multipart/form-data; boundary=x",
			)
			if text := webtest.Body(t, resp); resp.StatusCode != http.StatusUnprocessableEntity || len(text) > 1<<10 {
				t.Errorf("%s: %s, %.300s", name, resp.Status, text)
			}
		})
	}
}
