package web

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
	"warpboard/models/work"
	"warpboard/web/popcorn/popcorntest"
	"warpboard/web/site"
)

var statusEvent = regexp.MustCompile(`^event: status\ndata: \{"status":"(pending|running|finished)","elapsed_time":[0-9.]+,"message":"Submission \d+: [a-z]+ \(\d+ s\)"\}\n\n$`)

// follows streams a submission, and ends its run once so many statuses have come.
func (s *stage) follows(c *popcorntest.Client, mode string, statuses int, end func(id int64)) (popcorntest.Streamed, error) {
	s.t.Helper()
	came := 0
	return c.Stream(s.t.Context(), "VectorAdd", "CPU", mode, "mine.cpp", []byte("int x;\n"), func(e popcorntest.Event) {
		if came++; came == statuses {
			var id int64
			if _, err := fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &id); err != nil {
				s.t.Error(e.Data, err)
			}
			end(id)
		}
	})
}

func TestPopcornFollowsASubmissionToItsResult(t *testing.T) {
	s := &stage{testSite: startSite(t, func(c *Config) { c.Heartbeat = 5 * time.Millisecond })}
	s.people(t)
	c := s.popcorn(s.user)
	for mode, want := range map[string]struct {
		end   func(work.Run) work.Recorded
		says  []string
		shown string
	}{
		"test": {s.fails(popcornWrong()), []string{"on CPU (test): failed\n", "gave a wrong answer: expected 15, got -7[2J.", "Test: 0 of 1 passed\n  fail  size: 8; seed: 1  expected 15, got -7"}, "hello"},
		"benchmark": {s.fails(job.StageResult{Stage: job.StageBuild, Status: job.StatusError, Stderr: "mine.cpp:1: error", Failure: &job.Failure{Reason: "It does not compile."}}),
			[]string{"on CPU (benchmark): failed\n", "It does not compile.", "mine.cpp:1: error"}, ""},
		"leaderboard": {s.passes, []string{"on CPU (leaderboard): passed\n", "Leaderboard: 1 of 1 passed\n  pass  size: 1024; seed: 2  1.234\u00a0µs", "Score: 1.2345e-06 s"}, ""},
	} {
		got, err := s.follows(c, mode, 3, func(id int64) { s.when(id, want.end) })
		if err != nil || len(got.Events) < 4 || len(got.Reports) != 1 {
			t.Fatalf("%s: %+v, %v", mode, got, err)
		}
		for _, e := range got.Events[:len(got.Events)-1] {
			if !statusEvent.MatchString(e.Raw) {
				t.Errorf("%s: the bytes of a status are %q", mode, e.Raw)
			}
		}
		if last := got.Events[len(got.Events)-1].Raw; !strings.HasPrefix(last, "event: result\ndata: {\"status\":\"success\",\"results\":[{\"success\":true,\"error\":\"\",\"system\":{") || strings.Count(last, "\n") != 3 {
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

// TestPopcornSaysWhyAStreamBreaksOff: the submission goes on, and its sender hears where.
func TestPopcornSaysWhyAStreamBreaksOff(t *testing.T) {
	for name, tt := range map[string]struct {
		cut  func(*stage, int64)
		said string
	}{
		"the site stops": {func(s *stage, _ int64) { s.site.StopStreams() }, "503 The site is stopping or restarting. Submission"},
		"the token is revoked": {func(s *stage, _ int64) {
			tokens, err := s.site.Store.Accounts.Tokens(s.t.Context(), s.user.ID)
			if err == nil {
				err = s.site.Store.Accounts.RevokeToken(s.t.Context(), s.user.ID, tokens[0].ID)
			}
			if err != nil {
				s.t.Error(err)
			}
		}, "404 This token was revoked or has expired."},
		"the submission is deleted": {func(s *stage, id int64) {
			if _, err := s.site.Store.DeleteSubmission(s.t.Context(), s.user, id, ""); err != nil {
				s.t.Error(err)
			}
		}, "was deleted."},
	} {
		t.Run(name, func(t *testing.T) {
			s := &stage{testSite: startSite(t, func(c *Config) { c.Heartbeat = 5 * time.Millisecond })}
			s.people(t)
			got, err := s.follows(s.popcorn(s.user), "test", 2, func(id int64) { tt.cut(s, id) })
			said := refused(err)
			if !strings.Contains(said, tt.said) || !strings.Contains(said, s.url+"/submissions/") || got.Events[len(got.Events)-1].Name != "error" {
				t.Errorf("it breaks off with %q, want %q: %v", said, tt.said, err)
			}
		})
	}
}

// TestPopcornSubmitsNothingWhereThereIsNoRoomToFollow: who is refused finds no submission.
func TestPopcornSubmitsNothingWhereThereIsNoRoomToFollow(t *testing.T) {
	s := &stage{testSite: startSite(t, func(c *Config) {
		c.Heartbeat = 5 * time.Millisecond
		c.Limits = site.Limits{Streams: 1}
	})}
	s.people(t)
	c := s.popcorn(s.user)
	_, err := s.follows(c, "test", 1, func(id int64) {
		if _, err := c.Stream(t.Context(), "vectoradd", "CPU", "test", "mine.cpp", []byte("int y;\n"), nil); !strings.HasPrefix(refused(err), "429 ") {
			t.Errorf("a second stream: %v", err)
		}
		s.when(id, s.passes)
	})
	if list, listed := c.List(t.Context(), "vectoradd", 0); err != nil || listed != nil || len(list) != 1 {
		t.Errorf("%d submissions, %v, %v", len(list), err, listed)
	}
	keeping := s.browser() // its connections stay open where the site lets them
	for range 2 {          // a refusal gives its place back, too
		eventually(t, "there is room again", func() bool {
			resp := keeping.send(http.MethodPost, "/popcorn/nothing/CPU/test", strings.NewReader("x"), "X-Popcorn-Cli-Id", c.Token)
			return strings.Contains(body(t, resp), "There is no task")
		})
	}
	eventually(t, "there is room for a submission", func() bool {
		_, err := s.follows(c, "test", 1, func(id int64) { s.when(id, s.passes) })
		return err == nil
	})
}

// TestPopcornGoesOnWithoutItsReader: who leaves a stream finds the result later.
func TestPopcornGoesOnWithoutItsReader(t *testing.T) {
	s := &stage{testSite: startSite(t, func(c *Config) { c.Heartbeat = 5 * time.Millisecond })}
	s.people(t)
	c, began := s.popcorn(s.user), int64(0)
	ctx, leave := context.WithCancel(t.Context())
	_, err := c.Stream(ctx, "vectoradd", "CPU", "test", "mine.cpp", []byte("int x;\n"), func(e popcorntest.Event) {
		_, _ = fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &began)
		leave()
	})
	if err == nil {
		t.Fatal("the stream ended well")
	}
	s.when(began, s.passes)
	if d, err := c.Show(t.Context(), began); err != nil || !d.Done {
		t.Errorf("%+v, %v", d, err)
	}
}

// TestPopcornBringsProfilesAsTextAndFile: as popcorn-cli prints and saves them.
func TestPopcornBringsProfilesAsTextAndFile(t *testing.T) {
	s := newProfiledScene(t, func(c *Config) { c.Heartbeat = 5 * time.Millisecond })
	c := s.popcorn(s.ada)
	profile := func(report string) popcorntest.Streamed {
		t.Helper()
		done := false
		got, err := c.Stream(t.Context(), s.task.Slug, "H200", "profile", "mine.cu", []byte(goodKernel), func(e popcorntest.Event) {
			if done || e.Name != "status" {
				return
			}
			done = true
			var id int64
			_, _ = fmt.Sscanf(e.Data[strings.Index(e.Data, "Submission "):], "Submission %d", &id)
			runs, err := s.site.Store.Work.Runs(t.Context(), id)
			if err != nil {
				t.Error(err)
				return
			}
			s.profile(runs[0], report)
		})
		if err != nil {
			t.Fatalf("%+v, %v", got, err)
		}
		return got
	}
	got := profile("tri")
	shown := strings.Join(got.Shown, "\n")
	for _, want := range []string{"Nsight Compute", "m: 1024; n: 1024; k: 1024; seed: 54352", "Kernel softmax_row", "Speed of light:", "longer than its time limit",
		s.url + "/submissions/", "/profile.ncu-rep?case=0"} {
		if !strings.Contains(shown, want) {
			t.Errorf("it is not shown: %q in\n%s", want, shown)
		}
	}
	if len(got.Traces) != 1 {
		t.Fatalf("%d traces", len(got.Traces))
	}
	z, err := zip.NewReader(bytes.NewReader(got.Traces[0]), int64(len(got.Traces[0])))
	if err != nil || len(z.File) != 1 || !strings.HasSuffix(z.File[0].Name, ".ncu-rep") {
		t.Fatal(z, err)
	}
	f, err := z.File[0].Open()
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(f); err != nil || !bytes.Equal(text, writtenReport) {
		t.Errorf("the report in the zip: %q, %v", text, err)
	}
	if got := profile(""); !strings.Contains(strings.Join(got.Shown, "\n"), "ERR_NVGPUCTRPERM") || len(got.Traces) != 0 || !strings.Contains(got.Reports[0], "ERR_NVGPUCTRPERM") {
		t.Errorf("a profile that was refused: %+v", got)
	}
}
