package web_test

import (
	"archive/zip"
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/work"
	"warpboard/web"
	"warpboard/web/popcorn/popcorntest"
	"warpboard/web/site"
	"warpboard/web/webtest"
)

var statusEvent = regexp.MustCompile(
	`^event: status\ndata: \{"status":"(pending|running|finished)","elapsed_time":[0-9.]+,"message":"Submission \d+: [a-z]+ \(\d+ s\)"\}\n\n$`)

// follows submits a file and reads the stream. After the given number of events it calls end, which ends the run.
func follows(s *webtest.Stage, c *popcorntest.Client, mode string, statuses int,
	end func(id int64)) (popcorntest.Streamed, error) {
	s.T.Helper()
	came := 0
	return c.Stream(s.T.Context(), "VectorAdd", "CPU", mode, "mine.cpp", []byte("int x;\n"), func(e popcorntest.Event) {
		if came++; came == statuses {
			var id int64
			if _, err := fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &id); err != nil {
				s.T.Error(e.Data, err)
			}
			end(id)
		}
	})
}

func TestPopcornFollowsASubmissionToItsResult(t *testing.T) {
	s := &webtest.Stage{Site: webtest.Start(t, func(c *web.Config) { c.Heartbeat = 5 * time.Millisecond })}
	s.People(t)
	c := s.Popcorn(s.User)
	for mode, want := range map[string]struct {
		end   func(work.Run) work.Effect
		says  []string
		shown string
	}{
		"test": {s.Fails(webtest.PopcornWrong()),
			[]string{"on CPU (test): failed\n", "gave a wrong answer: expected 15, got -7[2J.",
				"Test: 0 of 1 passed\n  fail  size: 8; seed: 1  expected 15, got -7"}, "hello"},
		"benchmark": {s.Fails(job.StageResult{Stage: job.StageBuild, Status: job.StatusError,
			Stderr: "mine.cpp:1: error", Failure: &job.Failure{Reason: "It does not compile."}}),
			[]string{"on CPU (benchmark): failed\n", "It does not compile.", "mine.cpp:1: error"}, ""},
		"leaderboard": {s.Passes, []string{"on CPU (leaderboard): passed\n",
			"Leaderboard: 1 of 1 passed\n  pass  size: 1024; seed: 2  1.234\u00a0µs", "Score: 1.2345e-06 s"}, ""},
	} {
		got, err := follows(s, c, mode, 3, func(id int64) { s.When(id, want.end) })
		if err != nil || len(got.Events) < 4 || len(got.Reports) != 1 {
			t.Fatalf("%s: %+v, %v", mode, got, err)
		}
		for _, e := range got.Events[:len(got.Events)-1] {
			if !statusEvent.MatchString(e.Raw) {
				t.Errorf("%s: the bytes of a status are %q", mode, e.Raw)
			}
		}
		if last := got.Events[len(got.Events)-1].Raw; !strings.HasPrefix(last,
			"event: result\ndata: {\"status\":\"success\",\"results\":[{\"success\":true,\"error\":\"\",\"system\":{") || strings.Count(last, "\n") != 3 {
			t.Errorf("%s: the bytes of the result are %q", mode, last)
		}
		for _, text := range want.says {
			if !strings.Contains(got.Reports[0], text) {
				t.Errorf("%s: the report %q does not say %q", mode, got.Reports[0], text)
			}
		}
		if !strings.Contains(strings.Join(got.Shown, ""), want.shown) {
			t.Errorf("%s: shown %q", mode, got.Shown)
		}
	}
}

// TestPopcornSaysWhyAStreamBreaksOff checks that the last event of an interrupted stream has the reason, and the URL of
// the submission, which continues.
func TestPopcornSaysWhyAStreamBreaksOff(t *testing.T) {
	for name, tt := range map[string]struct {
		cut   func(*webtest.Stage, int64)
		reply string
	}{
		"the site stops": {func(s *webtest.Stage, _ int64) { s.Shared().StopStreams() },
			"503 The site is stopping or restarting. Submission"},
		"the token is revoked": {func(s *webtest.Stage, _ int64) {
			tokens, err := s.Cfg.Store.Accounts.Tokens(s.T.Context(), s.User.ID)
			if err == nil {
				err = s.Cfg.Store.Accounts.RevokeToken(s.T.Context(), s.User.ID, tokens[0].ID)
			}
			if err != nil {
				s.T.Error(err)
			}
		}, "404 This token was revoked or has expired."},
		"the submission is deleted": {func(s *webtest.Stage, id int64) {
			if _, err := s.Cfg.Store.DeleteSubmission(s.T.Context(), s.User, id, ""); err != nil {
				s.T.Error(err)
			}
		}, "was deleted."},
	} {
		t.Run(name, func(t *testing.T) {
			s := &webtest.Stage{Site: webtest.Start(t, func(c *web.Config) { c.Heartbeat = 5 * time.Millisecond })}
			s.People(t)
			got, err := follows(s, s.Popcorn(s.User), "test", 2, func(id int64) { tt.cut(s, id) })
			reply := webtest.Refused(err)
			if !strings.Contains(reply, tt.reply) || !strings.Contains(reply, s.URL+"/submissions/") ||
				got.Events[len(got.Events)-1].Name != "error" {
				t.Errorf("it breaks off with %q, want %q: %v", reply, tt.reply, err)
			}
		})
	}
}

// TestPopcornSubmitsNothingIfNoStreamIsFree checks that a request above the limit of streams creates no submission.
func TestPopcornSubmitsNothingIfNoStreamIsFree(t *testing.T) {
	s := &webtest.Stage{Site: webtest.Start(t, func(c *web.Config) {
		c.Heartbeat = 5 * time.Millisecond
		c.Limits = site.Limits{Streams: 1}
	})}
	s.People(t)
	c := s.Popcorn(s.User)
	_, err := follows(s, c, "test", 1, func(id int64) {
		if _, err := c.Stream(t.Context(), "vectoradd", "CPU", "test", "mine.cpp", []byte("int y;\n"),
			nil); !strings.HasPrefix(webtest.Refused(err), "429 ") {
			t.Errorf("a second stream: %v", err)
		}
		s.When(id, s.Passes)
	})
	if list, listed := c.List(t.Context(), "vectoradd", 0); err != nil || listed != nil || len(list) != 1 {
		t.Errorf("%d submissions, %v, %v", len(list), err, listed)
	}
	keeping := s.Browser() // this client reuses its connections unless the site closes them
	for range 2 {          // a refused request must not continue to count as a stream
		tier.Until(t, "there is room again", func() bool {
			resp := keeping.Send(http.MethodPost, "/popcorn/nothing/CPU/test", strings.NewReader("x"),
				"X-Popcorn-Cli-Id", c.Token)
			return strings.Contains(webtest.Body(t, resp), "There is no task")
		})
	}
	tier.Until(t, "there is room for a submission", func() bool {
		_, err := follows(s, c, "test", 1, func(id int64) { s.When(id, s.Passes) })
		return err == nil
	})
}

// TestPopcornGoesOnWithoutItsReader checks that a submission continues after its client has disconnected, and that the
// client can read the result later.
func TestPopcornGoesOnWithoutItsReader(t *testing.T) {
	s := &webtest.Stage{Site: webtest.Start(t, func(c *web.Config) { c.Heartbeat = 5 * time.Millisecond })}
	s.People(t)
	c, began := s.Popcorn(s.User), int64(0)
	ctx, leave := context.WithCancel(t.Context())
	_, err := c.Stream(ctx, "vectoradd", "CPU", "test", "mine.cpp", []byte("int x;\n"), func(e popcorntest.Event) {
		_, _ = fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &began)
		leave()
	})
	if err == nil {
		t.Fatal("the stream ended well")
	}
	s.When(began, s.Passes)
	if d, err := c.Show(t.Context(), began); err != nil || !d.Done {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestPopcornBringsProfilesAsTextAndFile checks the report that popcorn-cli prints and the zip file that it saves.
func TestPopcornBringsProfilesAsTextAndFile(t *testing.T) {
	s := webtest.NewProfiledScene(t, func(c *web.Config) { c.Heartbeat = 5 * time.Millisecond })
	c := s.Popcorn(s.Ada)
	profile := func(report string, options map[string]string) popcorntest.Streamed {
		t.Helper()
		done := false
		see := func(e popcorntest.Event) {
			if done || e.Name != "status" {
				return
			}
			done = true
			var id int64
			_, _ = fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &id)
			runs, err := s.Cfg.Store.Work.Runs(t.Context(), id)
			if err != nil {
				t.Error(err)
				return
			}
			s.Profile(runs[0], report)
		}
		got, err := popcorntest.Streamed{}, error(nil)
		if options == nil {
			got, err = c.Stream(t.Context(), s.Task.Slug, "H200", "profile", "mine.cu", []byte(webtest.GoodKernel), see)
		} else {
			got, err = c.Profile(t.Context(), s.Task.Slug, "H200", "mine.cu", []byte(webtest.GoodKernel), options, see)
		}
		if err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	got := profile("tri", nil)
	shown := strings.Join(got.Shown, "\n")
	for _, want := range []string{"Nsight Compute", "m: 1024; n: 1024; k: 1024; seed: 54352", "Kernel softmax_row",
		"Speed of light:", "longer than its time limit",
		s.URL + "/submissions/", "/profile.ncu-rep?case=0"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it is not shown: %q in\n%s", want, shown)
		}
	}
	if len(got.Traces) != 1 {
		t.Fatalf("%d traces", len(got.Traces))
	}
	z, err := zip.NewReader(bytes.NewReader(got.Traces[0]), int64(len(got.Traces[0])))
	if err != nil || len(z.File) != 2 || !strings.HasSuffix(z.File[0].Name, ".ncu-rep") ||
		z.File[1].Name != "ncu-details.txt" {
		t.Fatal(z, err)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); err != nil || !bytes.Equal(text, webtest.WrittenReport) {
		t.Errorf("the report in the zip: %q, %v", text, err)
	}
	if got := profile("", nil); !strings.Contains(strings.Join(got.Shown, "\n"), "ERR_NVGPUCTRPERM") ||
		len(got.Traces) != 0 || !strings.Contains(got.Reports[0], "ERR_NVGPUCTRPERM") {
		t.Errorf("a profile that was refused: %+v", got)
	}
	filter := func() string {
		t.Helper()
		sub, err := s.Cfg.Store.Submissions.Submission(t.Context(), s.Newest(s.Ada).SubmissionID)
		if err != nil {
			t.Fatal(err)
		}
		return sub.ProfileFilter.String()
	}
	got = profile("tri", map[string]string{"benchmark_index": "0", "ncu_kernel_name": "regex:soft.*",
		"ncu_kernel_name_base": "demangled", "ncu_launch_count": "1"})
	if has := filter(); len(got.Traces) != 1 || has != "Benchmark 0, kernels like soft.*, launch 1" {
		t.Errorf("with options: %q, %d traces", has, len(got.Traces))
	}
	profile("tri", map[string]string{})
	if has := filter(); has != "Launches 1–10" {
		t.Errorf("without options: %q", has)
	}
	for field, want := range map[string]string{"benchmark_index=9": "there is no benchmark 9",
		"benchmark_index=x":         "benchmark must be a number",
		"ncu_launch_count=17":       "launches to profile must be from 1 to 16, not 17",
		"ncu_kernel_name_base=half": "function, demangled, or mangled"} {
		name, value, _ := strings.Cut(field, "=")
		if _, err := c.Profile(t.Context(), s.Task.Slug, "H200", "mine.cu", []byte(webtest.GoodKernel),
			map[string]string{name: value}, nil); !strings.Contains(webtest.Refused(err), want) {
			t.Errorf("%s: %v, want %q", field, err, want)
		}
	}
}
