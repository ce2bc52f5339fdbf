package client

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
)

// serve starts a server that calls answers in order, one per request, and then repeats the last one. It returns a
// client.
func serve(t *testing.T, answers ...http.HandlerFunc) *Client {
	t.Helper()
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answer := answers[min(n, len(answers)-1)]
		n++
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return New(s.URL+"/", "wb_token")
}

func stream(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, text) }
}

func TestWatchAsksAgainAfterTheLastEventAndSkipsDoubles(t *testing.T) {
	var asked []string
	note := func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, r.Header.Get("Last-Event-ID")+" "+r.Header.Get("Authorization"))
			next(w, r)
		}
	}
	c := serve(t,
		// This stream ends in the middle of event 6.
		note(stream("retry: 1\n\nid: 4\ndata: {\"id\":4}\n\n:\n\nid: 5\ndata: {\"id\":5}\n\nid: 6\ndata: {\"id\"")),
		note(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "restarting", http.StatusBadGateway) }),
		note(stream("data: {\"id\":5}\n\ndata: {\"id\":6}\n\nevent: end\ndata: \n\ndata: {\"id\":7}\n\n")),
	)
	var seen []int64
	err := c.Watch(t.Context(), 1, 3, func(e Event) error { seen = append(seen, e.ID); return nil })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]int64{4, 5, 6}, seen); diff != "" {
		t.Errorf("events want (-), got (+):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"3 Bearer wb_token", "5 Bearer wb_token", "5 Bearer wb_token"}, asked); diff != "" {
		t.Errorf("requests want (-), got (+):\n%s", diff)
	}
}

func TestWatchEndsWhenTheSiteRefuses(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusNotFound)
		io.WriteString(w, `{"status":404,"code":"not_found","detail":"There is no submission 1."}`)
	})
	err := c.Watch(t.Context(), 1, 0, func(Event) error { return nil })
	var p *Problem
	if !errors.As(err, &p) || p.Code != "not_found" || err.Error() != "There is no submission 1." {
		t.Errorf("Watch returned %v", err)
	}
}

func TestWatchReturnsTheCallersError(t *testing.T) {
	full := errors.New("disk is full")
	c := serve(t, stream("data: {\"id\":1}\n\n"))
	if err := c.Watch(t.Context(), 1, 0, func(Event) error { return full }); !errors.Is(err, full) {
		t.Errorf("Watch returned %v, want the function's own error", err)
	}
}

func TestWrongAddressGivesASentence(t *testing.T) {
	for name, answer := range map[string]http.HandlerFunc{
		"a web page":  stream("<html>Hello</html>"),
		"another 404": http.NotFound,
		"teapot": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "7")
			w.WriteHeader(http.StatusTeapot)
		},
	} {
		_, err := serve(t, answer).Tasks(t.Context())
		if err == nil || !strings.Contains(err.Error(), "Warpboard site") {
			t.Errorf("%s: the error is %v", name, err)
		}
		var p *Problem
		if name == "teapot" && (!errors.As(err, &p) || p.RetryAfter != 7*time.Second) {
			t.Errorf("Retry-After was lost in %+v", err)
		}
	}
}

func TestSubmitOutlastsAMomentWithoutADatabase(t *testing.T) {
	var keys []string
	sub, err := serve(t, func(w http.ResponseWriter, r *http.Request) {
		keys = append(keys, r.Header.Get(IdempotencyHeader))
		if len(keys) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
			io.WriteString(w, `{"code": "unavailable"}`)
			return
		}
		w.WriteHeader(http.StatusCreated)
		io.WriteString(w, `{"id": 7}`)
	}).Submit(t.Context(), NewSubmission{})
	if err != nil || sub.ID != 7 || len(keys) != 2 || keys[0] != keys[1] {
		t.Errorf("Submit = %+v, %v with keys %q", sub, err, keys)
	}
}

func TestSubmitTakesARefusalAsFinal(t *testing.T) {
	tries := 0
	_, err := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		tries++
		w.WriteHeader(http.StatusServiceUnavailable)
		io.WriteString(w, `{"code": "disk_full"}`)
	}).Submit(t.Context(), NewSubmission{})
	if err == nil || tries != 1 {
		t.Errorf("%d tries, %v", tries, err)
	}
}

func FuzzReadEvents(f *testing.F) {
	fuzztest.Moment(f)
	f.Add("id: 1\ndata: a\ndata: b\n\n:\n\nevent: end\n\n")
	f.Add("\r")
	f.Add("data\n\ndata:x\n\r\n\x00")
	f.Fuzz(func(t *testing.T, text string) {
		blocks := 0
		err := readEvents(strings.NewReader(text), func(name, data string) error {
			if strings.Contains(name, "\n") {
				return fmt.Errorf("a name of two lines: %q", name)
			}
			blocks++
			return nil
		})
		if err == nil || strings.HasPrefix(err.Error(), "a name") {
			t.Errorf("%q: %v", text, err)
		}
		if blocks > strings.Count(text, "\n")+1 { // one block more than line feeds, because a final \r also ends a line
			t.Errorf("%q gave %d blocks", text, blocks)
		}
	})
}

// TestNothingIsSentToAnotherHost checks redirects: one to another host gets neither the token, nor the key of a caller
// without a token, nor the submission; one to another address of the same site is followed.
func TestNothingIsSentToAnotherHost(t *testing.T) {
	for _, token := range []string{"wb_token", ""} {
		got := 0
		other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { got++ }))
		defer other.Close()
		site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/v1/devices" {
				http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
				return
			}
			if r.URL.Path == "/elsewhere" {
				if r.Header.Get("Authorization")+r.Header.Get(EvaluationKeyHeader) == "" {
					t.Error("the same site does not learn who asks")
				}
				io.WriteString(w, `{"devices":[{"device":"CPU"}]}`)
				return
			}
			http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
		}))
		defer site.Close()
		c := New(site.URL, token)
		c.SetEvaluationKey("key")
		if list, err := c.Devices(t.Context()); err != nil || len(list) != 1 {
			t.Errorf("%v, %v", list, err)
		}
		if _, err := c.Submit(t.Context(), NewSubmission{Source: "secret"}); err == nil ||
			!strings.Contains(err.Error(), "redirects to "+other.URL) {
			t.Errorf("a redirect to another host: %v", err)
		}
		if got > 0 {
			t.Error("the other host was asked")
		}
	}
}

// TestAnAnswerThatIsTooLargeIsRefused checks that a response above the limit is an error, and is not truncated.
func TestAnAnswerThatIsTooLargeIsRefused(t *testing.T) {
	c := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		piece := make([]byte, 1<<20)
		for range maxAnswerBytes>>20 + 1 {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	})
	if _, _, err := c.Bundle(t.Context(), "sum"); err == nil || !strings.Contains(err.Error(), "larger than 64 MiB") {
		t.Errorf("a bundle: %v", err)
	}
}

func TestAWaitThatIsAnsweredAtOnceIsNotRepeatedAtOnce(t *testing.T) {
	c := serve(t, stream(`{"ended":false}`))
	for what, wait := range map[string]func() error{
		"submission": func() error { _, err := c.Wait(t.Context(), 1, 20*time.Second); return err },
		"evaluation": func() error { _, err := c.Evaluation(t.Context(), "1", 20*time.Second); return err },
	} {
		began := time.Now()
		if err := wait(); err != nil || time.Since(began) < time.Second {
			t.Errorf("%s: %v after %s", what, err, time.Since(began))
		}
	}
}
