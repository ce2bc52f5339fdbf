package popcorntest

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// Event is one server-sent event, and the time between the request and its arrival.
type Event struct {
	Name, Data string
	After      time.Duration
	Raw        string // unparsed text of the event
}

// Streamed has the result of reading a stream.
type Streamed struct {
	Events  []Event
	Reports []string // texts that popcorn-cli prints at the end
	Shown   []string // texts about profiles and the output of programs that popcorn-cli prints
	Traces  [][]byte // zip files that popcorn-cli saves
}

// Stream submits a file and reads the stream of its progress, as popcorn-cli does for profiles (before 1.3.16 for every
// mode). If seen is not nil, Stream calls it for each event.
func (c *Client) Stream(ctx context.Context, leaderboard, gpu, mode, file string, source []byte,
	seen func(Event)) (s Streamed, err error) {
	contentType, body, err := form(file, source, nil)
	if err != nil {
		return s, err
	}
	return c.follow(ctx, fmt.Sprintf("/%s/%s/%s", strings.ToLower(leaderboard), gpu, strings.ToLower(mode)),
		strings.ToLower(mode), contentType, body, seen)
}

// follow sends a form and reads the stream in the response.
func (c *Client) follow(ctx context.Context, path, mode, contentType string, body *bytes.Buffer,
	seen func(Event)) (s Streamed, err error) {
	began := time.Now()
	resp, err := c.send(ctx, http.MethodPost, path, contentType, body)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	if kind := resp.Header.Get("Content-Type"); !strings.HasPrefix(kind, "text/event-stream") {
		return s, fmt.Errorf("invalid non-streaming response: %s", kind)
	}
	var kept bytes.Buffer
	piece := make([]byte, 8<<10)
	for {
		n, err := resp.Body.Read(piece)
		kept.Write(piece[:n])
		for {
			raw, _, whole := strings.Cut(kept.String(), "\n\n")
			if !whole {
				break
			}
			kept.Next(len(raw) + 2)
			e := eventOf(raw + "\n\n")
			e.After = time.Since(began)
			s.Events = append(s.Events, e)
			if seen != nil {
				seen(e)
			}
			if over, err := s.processEvent(e, mode); over || err != nil {
				return s, err
			}
		}
		if err != nil {
			return s, errors.New("stream ended unexpectedly without a final result or error event")
		}
	}
}

// Profile submits a file in mode profile with the options of popcorn-cli --profile as form fields.
func (c *Client) Profile(ctx context.Context, leaderboard, gpu, file string, source []byte, options map[string]string,
	seen func(Event)) (Streamed, error) {
	contentType, body, err := form(file, source, options)
	if err != nil {
		return Streamed{}, err
	}
	return c.follow(ctx, fmt.Sprintf("/profile/%s/%s", leaderboard, gpu), "profile", contentType, body, seen)
}

// eventOf parses one server-sent event. If a field occurs twice, the last value counts, as in popcorn-cli.
func eventOf(raw string) Event {
	e := Event{Raw: raw}
	for line := range strings.Lines(raw) {
		if name, ok := strings.CutPrefix(line, "event:"); ok {
			e.Name = strings.TrimSpace(name)
		} else if data, ok := strings.CutPrefix(line, "data:"); ok {
			e.Data = strings.TrimSpace(data)
		}
	}
	return e
}

// processEvent processes one event. over reports whether the event was the result.
func (s *Streamed) processEvent(e Event, mode string) (over bool, err error) {
	switch e.Name {
	case "status":
		return false, nil
	case "error":
		var failed struct {
			Detail     string
			StatusCode *int    `json:"status_code"`
			RawError   *string `json:"raw_error"`
		}
		if err := json.Unmarshal([]byte(e.Data), &failed); err != nil {
			return false, err
		}
		return false, &Refusal{Status: *failed.StatusCode, Detail: failed.Detail, Body: e.Data}
	case "result":
		return true, s.takeResult([]byte(e.Data), mode)
	}
	return false, fmt.Errorf("unknown event: %q", e.Raw)
}

type stage struct {
	Run *struct {
		Stdout, Stderr string
		Result         map[string]any
	}
	Profile *struct {
		Profiler, Trace string
		DownloadURL     string `json:"download_url"`
	}
}

func (s *Streamed) takeResult(data []byte, mode string) error {
	var r struct {
		Results []struct{ Runs map[string]stage }
		Reports []string
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return err
	}
	s.Reports = r.Reports
	for _, one := range r.Results {
		for key, st := range one.Runs {
			switch {
			case mode == "profile" && strings.HasPrefix(key, "profile"):
				if err := s.takeProfile(st); err != nil {
					return fmt.Errorf("%s: %w", key, err)
				}
			case key == mode && st.Run != nil:
				s.Shown = append(s.Shown, st.Run.Stdout, st.Run.Stderr)
			}
		}
	}
	return nil
}

func (s *Streamed) takeProfile(st stage) error {
	if st.Profile == nil || st.Run == nil {
		return errors.New("no profile")
	}
	s.Shown = append(s.Shown, st.Profile.Profiler, st.Run.Stdout, st.Run.Stderr, st.Profile.DownloadURL)
	count, _ := st.Run.Result["benchmark-count"].(float64) // popcorn-cli shows no report if the count is not a number
	for i := range int(count) {
		spec, _ := st.Run.Result[fmt.Sprintf("benchmark.%d.spec", i)].(string)
		packed, _ := st.Run.Result[fmt.Sprintf("benchmark.%d.report", i)].(string)
		text, err := base64.StdEncoding.DecodeString(packed)
		if err != nil {
			return err
		}
		s.Shown = append(s.Shown, spec, string(text))
	}
	trace, err := base64.StdEncoding.DecodeString(st.Profile.Trace)
	if len(trace) > 0 {
		s.Traces = append(s.Traces, trace)
	}
	return err
}
