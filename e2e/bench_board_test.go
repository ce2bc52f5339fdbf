package e2e

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web"
)

// BenchmarkBoardPage asks a real server for the board that most of a million submissions (or as
// many as WARPBOARD_BENCH_ROWS says) went to, as a visitor does who has nothing cached: its first page and its last. The times
// are from the request to the answer's last byte, over loopback; cpu-ms is what server and reader computed for one page,
// which a busy machine makes no longer.
func BenchmarkBoardPage(b *testing.B) {
	rows := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("WARPBOARD_BENCH_ROWS")); err == nil {
		rows = n
	}
	b.Run("sqlite", func(b *testing.B) { benchBoard(b, models.Config{Dir: b.TempDir()}, rows) })
	b.Run("postgres", func(b *testing.B) {
		benchBoard(b, models.Config{Dir: b.TempDir(), DSN: modelstest.PostgresURL(b)}, rows)
	})
}

func benchBoard(b *testing.B, cfg models.Config, rows int) {
	store := openStore(b, cfg)
	filled, err := modelstest.Fill(b.Context(), store, rows)
	if err != nil {
		b.Fatal(err)
	}
	board, err := store.Head(b.Context(), filled.Task.VersionID, filled.Device)
	if err != nil {
		b.Fatal(err)
	}
	site, stop := serveStore(b, store)
	defer stop()
	path := "/tasks/" + filled.Task.Slug + "/boards/" + filled.Device
	b.Run("first", func(b *testing.B) { benchPage(b, store, site, path) })
	b.Run("last", func(b *testing.B) { benchPage(b, store, site, fmt.Sprintf("%s?page=%d", path, (board.Size+49)/50)) })
}

// benchPage reports what one page costs.
func benchPage(b *testing.B, store *models.Store, site, path string) {
	page, cold := len(fetch(b, site+path)), coldBytes(b, site, path)
	asked, cpu, pages := store.Statements(), processorTime(b), 0
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		fetch(b, site+path)
		took = append(took, time.Since(began))
		pages++
	}
	cpu = processorTime(b) - cpu
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(float64(cpu.Microseconds())/1000/float64(pages), "cpu-ms")
	b.ReportMetric(float64(page)/1000, "page-kB")
	b.ReportMetric(float64(cold)/1000, "cold-kB")
	b.ReportMetric(math.Round(float64(store.Statements()-asked)/float64(pages)), "queries/page") // the server does something in the background, too
}

// processorTime is what this process has computed until now.
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

// serveStore serves a store without a worker; stop ends that and closes the store.
func serveStore(b *testing.B, store *models.Store) (url string, stop func()) {
	b.Helper()
	log, hub := slog.New(slog.DiscardHandler), web.NewHub()
	addr := sandboxtest.Addr(b)
	server, err := web.New(web.Config{
		Store: store, Hub: hub, Dispatcher: dispatch.NewDispatcher(store, nil, hub, log), Addr: addr, Log: log,
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- server.Run(ctx) }()
	waitFor(b, patience, "the server", func() error {
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

// fetch reads a page as browsers do, compressed, and returns its bytes as they came.
func fetch(b *testing.B, url string) []byte {
	b.Helper()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, url, nil)
	if err != nil {
		b.Fatal(err)
	}
	req.Header.Set("Accept-Encoding", "gzip, br")
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

// static finds what a page loads: stylesheets, scripts, the font and the icon.
var static = regexp.MustCompile(`/static/[^"]+`)

// coldBytes is the size of all that a first visit loads, as it is sent.
func coldBytes(b *testing.B, site, path string) int {
	b.Helper()
	res, err := http.Get(site + path)
	if err != nil {
		b.Fatal(err)
	}
	defer res.Body.Close()
	page, err := io.ReadAll(res.Body)
	if err != nil {
		b.Fatal(err)
	}
	total := len(fetch(b, site+path))
	assets := static.FindAllString(string(page), -1)
	slices.Sort(assets)
	for _, asset := range slices.Compact(assets) {
		total += len(fetch(b, site+asset))
	}
	return total
}
