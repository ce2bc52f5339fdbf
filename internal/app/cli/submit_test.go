package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/app/cli/console"
)

func TestARunIsPrintedInOneLine(t *testing.T) {
	score := 1234.0
	for want, run := range map[string]client.Run{
		"H200   done  score 1.234 µs  profile http://site/submissions/1/runs/2/profile\n": {
			Device: "H200", State: "done", ScoreNS: &score, Profile: "http://site/submissions/1/runs/2/profile"},
		"CPU    done  score 1.234 µs from 3 runs of this source combined\n":                                      {Device: "CPU", State: "done", ScoreNS: &score, PooledRuns: 3},
		"CPU    done  score 1.234 µs of this run alone; on the board run 4 stands for all runs of this source\n": {ID: 5, Device: "CPU", State: "done", ScoreNS: &score, PoolRepresentativeRun: 4},
		"H200   failed  memcheck found an error.\nH200   submission.cu:6: error: memcheck: Invalid write in oob(int) (28 times)\nH200   warning: racecheck: Race\n": {
			Device: "H200", State: "failed", Failure: &job.Failure{Reason: "memcheck found an error."},
			Stages: []job.StageResult{{Findings: []job.Finding{
				{Tool: "memcheck", Message: "Invalid write", Kernel: "oob(int)", File: "submission.cu", Line: 6,
					Occurrences: 28}, {Tool: "racecheck", IsWarning: true, Message: "Race", Occurrences: 1}}}}},
		"H200   done  the task refuses libraries, and the profile lists cuBLAS 94 %\n": {Device: "H200", State: "done",
			Libraries: "cuBLAS 94\u00a0%"},
		"CPU    failed  Wrong answer.\n": {Device: "CPU", State: "failed",
			Failure: &job.Failure{Reason: "Wrong answer."}},
	} {
		var out bytes.Buffer
		if printRun(&console.Screen{Out: &out}, run); out.String() != want {
			t.Errorf("printed %q, want %q", out.String(), want)
		}
	}
}

func TestAFilterIsSentWithASubmission(t *testing.T) {
	w := newWorld(t)
	var in client.NewSubmission
	w.Config.Handler = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost { // request for the devices that have a worker
			rw.WriteHeader(http.StatusNotFound)
			return
		}
		in = client.NewSubmission{}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil {
			t.Error(err)
		}
		rw.Write([]byte(`{"id": 1}`))
	})
	w.stdin = "int x;\n"
	submit := []string{"submit", "-", "--task", "sum", "--mode", "profile", "--server", w.URL}
	for flags, want := range map[string]*job.ProfileFilter{
		"": nil,
		"--kernel regex:mat.* --launch-skip 2 --launch-count 3 --section Occupancy,SpeedOfLight": {
			Kernel: "regex:mat.*", LaunchSkip: 2, LaunchCount: 3, Sections: []string{"Occupancy", "SpeedOfLight"}},
	} {
		w.stdin = "int x;\n"
		if err := w.run(t, append(submit, strings.Fields(flags)...)...); err != nil ||
			cmp.Diff(want, in.ProfileFilter) != "" {
			t.Errorf("%s: %v %s", flags, err, cmp.Diff(want, in.ProfileFilter))
		}
	}
}

// TestATextThatIsNotUTF8IsNeverSent checks that such a file is refused, because JSON would change its text.
func TestATextThatIsNotUTF8IsNeverSent(t *testing.T) {
	w := newWorld(t)
	w.Config.Handler = http.HandlerFunc(func(_ http.ResponseWriter,
		r *http.Request) {
		t.Errorf("the site was asked: %s %s", r.Method, r.URL)
	})
	dir := folder(t, map[string]string{"latin.cu": "// one\n// caf\xe9\n", "good.cu": "// one\n",
		"latin.cuh": "\xff\xfe", "whole.json": `{"kernel": "` + "\xe9" + `"}`})
	at := func(name string) string { return filepath.Join(dir, name) }
	for want, args := range map[string][]string{
		at("latin.cu") + ":2: the byte 0xE9":   {"submit", at("latin.cu"), "--task", "sum"},
		at("latin.cuh") + ":1: the byte 0xFF":  {"submit", at("good.cu"), at("latin.cuh"), "--task", "sum"},
		at("latin.cu") + ":2: the byte 0xE9 ":  {"evaluate", at("latin.cu")},
		at("whole.json") + ":1: the byte 0xE9": {"evaluate", at("whole.json")},
	} {
		if err := w.run(t, append(args, "--server", w.URL)...); console.ExitCode(err) != console.ExitUsage ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%v: exit %d, %v, want %s", args, console.ExitCode(err), err, want)
		}
	}
}

// TestSubmitSaysThatNoWorkerServesTheDevice checks the warning, which is printed in addition to the response.
func TestSubmitSaysThatNoWorkerServesTheDevice(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("POST /api/v1/submissions", func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		json.NewEncoder(w).Encode(client.Submission{ID: 7, URL: "http://site/submissions/7",
			Runs: []client.Run{{Device: "H200"}, {Device: "CPU"}}})
	})
	mux.HandleFunc("GET /api/v1/devices", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(map[string]any{"devices": []client.Device{{Device: "CPU", Slots: 3},
			{Device: "H200"}}})
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	var out, output bytes.Buffer
	c := &connection{env: console.Environment{Getenv: func(string) string { return "" }, Stdout: &out, Stderr: &output},
		server: server.URL}
	file := filepath.Join(folder(t, map[string]string{"sum.cu": "// one\n"}), "sum.cu")
	if err := c.submit(t.Context(), client.NewSubmission{Task: "sum", Devices: []string{"H200", "CPU"}}, []string{file},
		false); err != nil {
		t.Fatal(err)
	}
	if want := "submission 7  http://site/submissions/7\n"; out.String() != want {
		t.Errorf("it printed %q, want %q", out.String(), want)
	}
	if want := "warpboard: H200: no worker takes runs for this device now: the run waits until one does. Devices with a worker: CPU\n"; output.String() != want {
		t.Errorf("on stderr stands %q, want %q", output.String(), want)
	}
}

func TestATerminalHasALineThatChangesAndAPipeHasNone(t *testing.T) {
	for _, terminal := range []bool{true, false} {
		var out bytes.Buffer
		s := &console.Screen{Out: &out, IsTerminal: terminal, Width: 30}
		w := newWatcher(s, nil, 1)
		for place := 2; place > 0; place-- {
			w.printChanges([]client.Run{{Device: "CPU", State: "queued", QueuePosition: place,
				ExpectedWaitSeconds: int64(90 * time.Second)}}, []client.Device{{Device: "CPU", Slots: 1}}, nil)
		}
		s.PrintLine("CPU    building")
		s.SetStatus("")
		want := "CPU    waits at place 2 of the queue, about 1m30s\nCPU    waits at place 1 of the queue, about 1m30s\nCPU    building\n"
		if terminal {
			want = "CPU waits at place 1 of the"
		}
		if got := out.String(); !strings.Contains(got, want) || strings.Contains(got, "\x1b") != terminal {
			t.Errorf("terminal %v: it is told %q, want %q", terminal, got, want)
		}
		if s.Width = 200; terminal && (strings.Count(out.String(), "\n") != 1 ||
			!strings.HasSuffix(out.String(), "\r\x1b[K")) {
			t.Errorf("the line that changes stays behind: %q", out.String())
		}
	}
}

// lines is a writer that sends each written text to a channel.
type lines chan string

func (l lines) Write(p []byte) (int, error) { l <- string(p); return len(p), nil }

func TestWatchingNamesDevicesWithAWorker(t *testing.T) {
	printed, output := make(lines, 100), []string{}
	until := func(part string) {
		for line := range printed {
			if output = append(output, line); strings.Contains(line, part) {
				return
			}
		}
	}
	devices := make(chan []client.Device, 1)
	devices <- []client.Device{{Device: "CPU", Slots: 3}, {Device: "A100", Slots: 1}, {Device: "H200"}}
	now := <-devices
	run := client.Run{Device: "H200", State: "queued"}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/submissions/7", func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(client.Submission{ID: 7, Runs: []client.Run{run}})
	})
	mux.HandleFunc("GET /api/v1/devices", func(w http.ResponseWriter, _ *http.Request) {
		select {
		case now = <-devices:
		default:
		}
		json.NewEncoder(w).Encode(map[string]any{"devices": now})
	})
	mux.HandleFunc("GET /api/v1/submissions/7/events", func(w http.ResponseWriter, _ *http.Request) {
		until("no worker takes runs")
		devices <- []client.Device{{Device: "H200", Slots: 1}}
		until("a worker takes runs for this device again")
		fmt.Fprint(w, "id: 1\ndata: {\"id\":1,\"device\":\"H200\",\"state\":\"building\"}\n\nevent: end\ndata: \n\n")
	})
	server := httptest.NewServer(mux)
	defer server.Close()
	w := newWatcher(&console.Screen{Out: printed}, client.New(server.URL, "t"), 7)
	w.pollInterval = time.Millisecond
	if _, err := w.run(t.Context()); err == nil || err.Error() != "1 of 1 runs did not pass" {
		t.Errorf("it ended with %v", err)
	}
	close(printed)
	until("nothing more")
	want := []string{
		"H200   no worker takes runs for this device now: the run waits until one does. Devices with a worker: CPU, A100\n",
		"H200   a worker takes runs for this device again\n", "H200   building\n", "H200   queued\n",
	}
	if diff := cmp.Diff(want, output); diff != "" {
		t.Errorf("(-want +printed):\n%s", diff)
	}
}
