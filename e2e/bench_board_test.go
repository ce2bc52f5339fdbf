package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strconv"
	"testing"
	"time"

	"warpboard/evaluator/dispatch"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/models"
	"warpboard/models/modelstest"
	"warpboard/web"
)

// BenchmarkBoardPage asks a real server for the board that most of a million submissions (or as
// many as WARPBOARD_BENCH_ROWS says) went to, as a visitor does who has nothing cached. The times
// are from the request to the answer's last byte, over loopback.
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
	if err := store.Close(); err != nil {
		b.Fatal(err)
	}
	path := "/tasks/" + filled.Task.Slug + "/boards/" + filled.Device
	asked := 0.0
	if cfg.DSN != "" {
		asked = queries(b, cfg, path)
	}
	site, stop := serveStore(b, openStore(b, cfg))
	defer stop()
	cold := coldBytes(b, site, path)
	var took []time.Duration
	for b.Loop() {
		began := time.Now()
		fetch(b, site+path)
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	for _, p := range []int{50, 99} {
		b.ReportMetric(float64(took[len(took)*p/100].Microseconds())/1000, fmt.Sprintf("p%d-ms", p))
	}
	b.ReportMetric(float64(cold)/1000, "cold-kB")
	if asked > 0 {
		b.ReportMetric(math.Round(asked), "queries/page") // the server does something in the background, too
	}
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

// queries counts the statements that PostgreSQL carries out for one page. Outside of transactions
// each is one of its own, and a connection adds its own to the count when it is closed.
func queries(b *testing.B, cfg models.Config, path string) float64 {
	b.Helper()
	const pages = 200
	count := func(pages int) int {
		before := commits(b, cfg.DSN)
		site, stop := serveStore(b, openStore(b, cfg))
		for range pages {
			fetch(b, site+path)
		}
		stop()
		return commits(b, cfg.DSN) - before
	}
	return float64(count(pages)-count(0)) / pages
}

func commits(b *testing.B, dsn string) (n int) {
	b.Helper()
	db, err := sql.Open("pgx", dsn)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	if err := db.QueryRow("select sum(xact_commit) from pg_stat_database").Scan(&n); err != nil {
		b.Fatal(err)
	}
	return n
}
