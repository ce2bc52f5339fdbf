package operation_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"warpboard/evaluator/job"
	"warpboard/migrations"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

// states returns the rows of the health page that are not OK, as "Backup unknown".
func states(doc *goquery.Document) string {
	return strings.Join(doc.Find("[data-health]:not([data-state='OK'], [data-state='not applicable'])").Map(func(_ int,
		e *goquery.Selection) string {
		return e.AttrOr("data-health", "") + " " + e.AttrOr("data-state", "")
	}), ", ")
}

func TestAnAdminSeesWhetherEverythingIsAllRight(t *testing.T) {
	q := &webtest.SickQueue{}
	s := webtest.Start(t, func(c *web.Config) { c.Queue = q })
	admin := s.SignedIn("Grace", accounts.RoleAdmin)
	webtest.WantStatus(t, s.SignedIn("Ada", accounts.RoleUser).Get("/operate/health"), http.StatusForbidden)
	look := func(want string) *goquery.Document {
		t.Helper()
		doc := admin.Page("/operate/health", http.StatusOK)
		webtest.CheckSound(t, doc)
		if got := states(doc); got != want {
			t.Errorf("not OK: %s; want %s", got, want)
		}
		return doc
	}
	s.Cfg.Store.Disk.MinFreeBytes = 1
	doc := look("Workers Action needed, Self-tests Not checked, Backup Not checked")
	webtest.WantText(t, doc, "[data-verdict].tag-fail:has(svg)", "3 items need attention.")
	webtest.WantText(t, doc, "[data-health=Backup] .tag-warn:has(svg)", "Not checked")
	webtest.WantText(t, doc, "[data-health=Workers]", "No worker is connected. Start a worker")
	webtest.WantText(t, doc, "[data-health=Backup]", "No backup has been recorded.")

	record := filepath.Join(s.Cfg.Store.Disk.Dir, "last-backup")
	webtest.WantText(t, doc, "[data-health=Backup] code", "mkdir -p -m 700 backup")
	webtest.WantText(t, doc, "[data-health=Backup] code",
		map[bool]string{false: ".backup backup/warpboard.db",
			true: "pg_dump"}[s.Cfg.Store.Dialect() == migrations.Postgres])
	webtest.WantText(t, doc, "[data-health=Backup] code", "touch "+record)
	webtest.WantText(t, doc, "[data-health=Backup]", "this page shows the time of that file")
	if err := os.WriteFile(record, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	beat := job.Heartbeat{Worker: "rack-1", WorkerStartedAt: time.Now(), Slots: []job.Slot{{Device: "CPU"}},
		SelfTestResults: []job.SelfTestResult{{Name: "sandbox", Passed: true}}}
	modelstest.RecordHeartbeat(t, s.Cfg.Store, beat)
	doc = look("")
	webtest.WantText(t, doc, "[data-verdict].tag-pass:has(svg)", "Everything is OK.")
	webtest.WantText(t, doc, "[data-health='Self-tests']", "1 test passed.")
	webtest.WantText(t, doc, "[data-health=compute-sanitizer]:has(.tag:not(.tag-pass))",
		"not applicable No GPU is connected.")

	old := time.Now().Add(-9 * 24 * time.Hour)
	if err := os.Chtimes(record, old, old); err != nil {
		t.Fatal(err)
	}
	beat.Slots = append(beat.Slots, job.Slot{Device: "H200", DisabledReason: "ECC errors"},
		job.Slot{Device: "H100", CanSanitize: true})
	beat.SelfTestResults = append(beat.SelfTestResults,
		job.SelfTestResult{Name: "memory limit", Detail: "it was not killed"})
	modelstest.RecordHeartbeat(t, s.Cfg.Store, beat)
	q.Err = os.ErrClosed
	s.Cfg.Store.Disk.MinFreeBytes = 1 << 60
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator), "sort",
		"A100")
	modelstest.Submit(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "Ben", accounts.RoleUser), task)
	doc = look("Queue Action needed, Messages to workers Action needed, Slots Action needed, Self-tests Action needed, Disk Action needed, Backup Warning")
	webtest.WantText(t, doc, "[data-health=Queue]", "No slot takes work for A100.")
	webtest.WantText(t, doc, "[data-health=Slots]", "2 slots take jobs. Out of service: H200 on rack-1: ECC errors.")
	webtest.WantText(t, doc, "[data-health='Self-tests']", "memory limit on rack-1: It was not killed.")
	webtest.WantText(t, doc, "[data-health=compute-sanitizer]",
		"Workers of H100 have it. No worker of H200 has it: mode sanitize is not offered there.")
	webtest.WantText(t, doc, "[data-health=Disk]", "Free space now")
	webtest.WantText(t, doc, "[data-health=Backup]", "Make a new one")
	doc.Find("[data-health] a").Each(func(_ int, a *goquery.Selection) {
		path, _, _ := strings.Cut(a.AttrOr("href", ""), "#")
		admin.Page(path, http.StatusOK)
	})
}

func TestTheHealthPageLooksRight(t *testing.T) {
	s := webtest.NewScene(t)
	s.Flag(0, "source", "")
	w := s.Window().As(s.BrowserOf(s.Admin))
	w.Visit("/operate/health")
	w.LooksRight("health")
	w.Eval(`document.querySelector("[data-health='Runs to review'] a").click()`)
	w.Shows("[data-group=source]", "Pattern in the source")
	w.RefusedNothing()
}
