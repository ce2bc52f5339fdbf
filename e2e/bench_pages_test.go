package e2e

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"net/http"
	"os"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/ncu/ncutest"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/events"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web"
	webpages "warpboard/web/site"
)

// BenchmarkPages requests the most visited pages from a real server with a million submissions (or
// WARPBOARD_BENCH_ROWS), compressed and with nothing cached: as a visitor and, where the name says so, as a user with
// hundreds of submissions. Times run from the request to the last byte of the response, over loopback. cpu-ms is the
// CPU time of server and reader per page, and alloc-kB their allocations; a busy machine does not increase either.
func BenchmarkPages(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("WARPBOARD_BENCH_ROWS")); err == nil {
		rows = n
	}
	b.Run("sqlite", func(b *testing.B) { benchPages(b, models.Config{Dir: b.TempDir()}, rows) })
	b.Run("postgres", func(b *testing.B) {
		benchPages(b, models.Config{Dir: b.TempDir(), DSN: modelstest.PostgresURL(b)}, rows)
	})
}

func benchPages(b *testing.B, cfg models.Config, rows int) {
	store := openStore(b, cfg)
	filled, err := modelstest.Fill(b.Context(), store, rows)
	if err != nil {
		b.Fatal(err)
	}
	first, second := profiledRun(b, store, filled, 5e4), profiledRun(b, store, filled, 6e4)
	head, err := store.Boards.ReadHead(b.Context(), filled.Task.VersionID, filled.Device)
	if err != nil {
		b.Fatal(err)
	}
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // the same value as in deploy/systemd/warpboard.service
	site, stop := serveStore(b, store)
	defer stop()
	task, person := "/tasks/"+filled.Task.Slug, signedIn(b, store, 2) // person 2 has the most submissions
	event := benchEvent(b, store, filled)
	board, run := task+"/boards/"+filled.Device, fmt.Sprintf("/submissions/%d", second.SubmissionID)
	for _, page := range []struct{ name, path, as string }{
		{"first", board, ""}, {"last", fmt.Sprintf("%s?page=%d", board, (head.PeopleCount+49)/50), ""},
		{"front", "/", ""}, {"tasks", "/tasks", ""}, {"home-person", "/", person}, {"task", task, ""},
		{"task-person", task, person}, {"workbench", task + "/solve", person},
		{"person", "/users/2", ""}, {"leaderboards", "/leaderboards", person},
		{"season", "/leaderboards?from=2026-01-01&device=H200", ""}, {"submission", run, ""},
		{"devices", "/devices", ""},
		{"compare", fmt.Sprintf("/compare?a=%d&b=%d", first.ID, second.ID), ""},
		{"compare-pick", fmt.Sprintf("/compare?b=%d", second.ID), person},
		{"event", event, person}, {"wall", event + "/wall", ""}, {"events", "/events", ""}, {"inbox", "/inbox", person},
		{"draws", task + "/draws", ""},
		{"profile", fmt.Sprintf("%s/runs/%d/profile", run, second.ID), ""},
	} {
		b.Run(page.name, func(b *testing.B) { reader{b, page.as}.bench(store, site, page.path) })
	}
}

// benchEvent creates an event of three tasks, including the most active one, on all their boards.
func benchEvent(b *testing.B, store *models.Store, filled modelstest.FilledBoard) string {
	b.Helper()
	in := events.EventSettings{Title: "Cup", StartsAt: time.Now().Add(-time.Hour), EndsAt: time.Now().Add(time.Hour),
		PointsRuleText: "5/3/1"}
	list, err := store.Catalog.Tasks(b.Context(), filled.Owner)
	if err != nil {
		b.Fatal(err)
	}
	in.Tasks = append(in.Tasks, filled.Task.Slug)
	for _, task := range list {
		if task.ID != filled.Task.ID && len(in.Tasks) < 3 {
			in.Tasks = append(in.Tasks, task.Slug)
		}
	}
	e, err := store.Events.Create(b.Context(), filled.Owner, in)
	if err != nil {
		b.Fatal(err)
	}
	return "/events/" + e.Slug
}

// signedIn returns the cookie of a person's session.
func signedIn(b *testing.B, store *models.Store, user int64) string {
	b.Helper()
	secret, _, err := store.Accounts.StartSession(b.Context(),
		accounts.NewSession{UserID: user, Provider: "test", Lifetime: time.Hour})
	if err != nil {
		b.Fatal(err)
	}
	return webpages.SessionCookie + "=" + secret
}

// profiledRun returns a run at the top of the board, with a real report of Nsight Compute for its only case.
func profiledRun(b *testing.B, store *models.Store, filled modelstest.FilledBoard, ns float64) work.Run {
	b.Helper()
	ctx, task := b.Context(), filled.Task
	task.Devices = []string{filled.Device}
	beat := job.Heartbeat{
		Worker:          "w1",
		WorkerStartedAt: time.Now(),
		Slots:           []job.Slot{{Device: filled.Device, CanProfile: true}},
	}
	// the site queues a profile only if a worker can make one
	if err := store.Fleet.SaveHeartbeat(ctx, beat); err != nil {
		b.Fatal(err)
	}
	run := modelstest.Submit(b, store, filled.Owner, task)[0]
	modelstest.Finish(b, store, run, ns)
	profile := modelstest.ProfileRun(b, store, run)
	attempt, err := store.Work.StartAttempt(ctx, profile.WorkRef())
	if err != nil {
		b.Fatal(err)
	}
	result := modelstest.Result(attempt, ns)
	result.ScoreNS, result.Stages = nil,
		[]job.StageResult{{Stage: job.StageProfile, Status: job.StatusPass, Cases: result.Stages[3].Cases}}
	result.Artifacts = []job.Artifact{{Name: "profile.0.json.gz", Type: "application/gzip", Data: packedReport(b)}}
	if _, err := store.Work.RecordResult(ctx, result, work.ResultFindings{}); err != nil {
		b.Fatal(err)
	}
	return run
}

// packedReport returns a report from the test data, compressed as a worker sends it.
func packedReport(b *testing.B) []byte {
	b.Helper()
	pages := ncu.CSVPages{Version: "Version 2025.3.1.0"}
	for _, page := range []string{"details", "raw", "source"} {
		pages.SetPage(page, ncutest.Page(b, "../evaluator/ncu/testdata", "cuda4", page))
	}
	text, err := json.Marshal(ncu.ParsePages(pages))
	if err != nil {
		b.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, err = z.Write(text)
	if err := errors.Join(err, z.Close()); err != nil {
		b.Fatal(err)
	}
	return packed.Bytes()
}

// reader requests pages with a cookie, or without one.
type reader struct {
	*testing.B
	cookie string
}

// bench reports the cost of one page.
func (b reader) bench(store *models.Store, site, path string) {
	page, cold := len(b.fetch(site+path)), b.coldBytes(site, path)
	asked, cpu, pages := store.QueryCount(), processorTime(b.B), 0
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		b.fetch(site + path)
		took = append(took, time.Since(began))
		pages++
	}
	cpu = processorTime(b.B) - cpu
	runtime.ReadMemStats(&after)
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(pages), "cpu-ms")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/1000/float64(pages), "alloc-kB")
	b.ReportMetric(float64(page)/1000, "page-kB")
	b.ReportMetric(float64(cold)/1000, "cold-kB")
	// rounded, because the server also makes queries in the background
	b.ReportMetric(math.Round(float64(store.QueryCount()-asked)/float64(pages)), "queries/page")
}

// processorTime returns the CPU time of this process so far.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var used syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &used); err != nil {
		b.Fatal(err)
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

func openStore(b *testing.B, cfg models.Config) *models.Store {
	b.Helper()
	store, err := models.Open(b.Context(), cfg)
	if err != nil {
		b.Fatal(err)
	}
	return store
}

// serveStore starts a site on a store, without a worker; stop stops the site and closes the store.
func serveStore(b *testing.B, store *models.Store) (url string, stop func()) {
	b.Helper()
	log, hub := slog.New(slog.DiscardHandler), web.NewHub()
	ln, err := net.Listen("tcp", sandboxtest.Addr(b))
	if err != nil {
		b.Fatal(err)
	}
	addr := ln.Addr().String()
	server, err := web.New(web.Config{
		SiteConfig: web.SiteConfig{Store: store, Hub: hub, Dispatcher: dispatch.NewDispatcher(store, nil, hub, log),
			Log:      log,
			Settings: web.Settings{Addr: addr}},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(ctx, ln) }()
	tier.WaitFor(b, "the server", func() error {
		res, err := http.Get("http://" + addr + "/healthz")
		if err != nil {
			return err
		}
		return res.Body.Close()
	})
	return "http://" + addr, func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
		if err := store.Close(); err != nil {
			b.Error(err)
		}
	}
}

// fetch requests a page with gzip or Brotli compression, like browsers, and returns the compressed body.
func (b reader) fetch(url string) []byte {
	b.Helper()
	return b.read(url, "gzip, br")
}

// read requests a page that may be compressed with the given encodings, and returns the body.
func (b reader) read(url, encodings string) []byte {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", encodings)
	req.Header.Set("Cookie", b.cookie)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		b.Fatalf("%s: %s, %v", url, res.Status, err)
	}
	return body
}

// static matches the files that a page loads at once: stylesheets, scripts, the font, and the icon.
var static = regexp.MustCompile(`(?:src|href)="(/static/[^"]+)"`)

// coldBytes returns the size of everything that a first visit loads, as sent.
func (b reader) coldBytes(site, path string) int {
	b.Helper()
	total := len(b.fetch(site + path))
	seen := map[string]bool{}
	for _, asset := range static.FindAllStringSubmatch(string(b.read(site+path, "identity")), -1) {
		if !seen[asset[1]] {
			seen[asset[1]] = true
			total += len(b.fetch(site + asset[1]))
		}
	}
	return total
}
