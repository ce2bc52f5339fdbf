package operation_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

func TestAPausedDeviceIsShownToAll(t *testing.T) {
	s := webtest.NewScene(t)
	admin, visitor := s.BrowserOf(s.Admin), s.Browser()
	if visitor.Page("/devices", http.StatusOK).Find("#devices form").Length() > 0 {
		t.Error("a visitor is offered what only admins may do")
	}
	webtest.WantStatus(t, s.BrowserOf(s.Ada).Post("/devices/H200/pause", nil), http.StatusForbidden)
	press := func(action string) {
		t.Helper()
		form := admin.Page("/devices", http.StatusOK).Find("[data-device=H200] form")
		if got := form.AttrOr("action", ""); got != action {
			t.Fatalf("the button leads to %q, want %q", got, action)
		}
		webtest.CheckSound(t, webtest.Document(t,
			admin.Post(action, url.Values{"why": {"The room is <being> cooled."}}), http.StatusOK))
	}
	press("/devices/H200/pause")
	doc := visitor.Page("/devices", http.StatusOK)
	webtest.WantText(t, doc, "[data-device=H200] .card-head", "paused")
	webtest.WantText(t, doc, "[data-device=H200] .callout", s.Admin.Name+" paused this device")
	webtest.WantText(t, doc, "[data-device=H200] .callout", "The room is <being> cooled.")
	waits := visitor.Page(fmt.Sprintf("/submissions/%d", s.Queued.SubmissionID), http.StatusOK)
	webtest.WantText(t, waits, "main",
		s.Admin.Name+
			" paused H200. The run keeps its place and starts when the device is resumed. The room is <being> cooled.")
	webtest.WantText(t, s.BrowserOf(s.Ada).Page("/tasks/"+s.Task.Slug, http.StatusOK), "main",
		"Paused, 0 waiting ahead of a new run, 1 behind it")
	press("/devices/H200/resume")
	if visitor.Page("/devices", http.StatusOK).Find("[data-device=H200] .callout").Length() > 0 {
		t.Error("a device that was resumed is still shown as paused")
	}
}

func TestDevicesPageShowsWhatAWorkerEvaluatesWith(t *testing.T) {
	s := webtest.NewScene(t)
	gone := job.Heartbeat{Worker: "rack-3", IsStopping: true,
		Slots: []job.Slot{{Device: "B200", MemoryBytes: 180 << 30, Arch: "100",
			Machine: job.Machine{Device: "B200", DeviceName: "NVIDIA B200"}}}}
	if err := s.Cfg.Store.Fleet.SaveHeartbeat(t.Context(), gone); err != nil {
		t.Fatal(err)
	}
	doc := s.Browser().Page("/devices", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "[data-device=H200] [data-what]", "NVIDIA H200 141 GiB sm_90")
	webtest.WantText(t, doc, "[data-device=B200] [data-what]", "NVIDIA B200 180 GiB sm_100")
	webtest.WantText(t, doc, "[data-device=H200] [data-day]", "Last 24 h: ")
	webtest.WantText(t, doc, "[data-device=H200] [data-day]", "median wait ")
	webtest.WantText(t, doc, "[data-device=CPU] [data-day]", "No runs in the last 24 h")
	webtest.WantText(t, doc, "[data-device=B200] [data-away]", "run warpboard work --join TOKEN")
	if doc.Find("[data-device=H200] [data-away]").Length() > 0 {
		t.Error("a device that is here is said to be away")
	}
	webtest.WantText(t, doc, "[data-worker=rack-7] [data-tools]", "nvcc 12.8.93 CUDA 12.8")
}

func TestADeviceIsBusyForAPartOfItsUptime(t *testing.T) {
	s, now := webtest.Start(t), time.Now()
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator), "sort",
		"CPU")
	run := webtest.Scored(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "Ann", accounts.RoleUser), task,
		work.Score{NS: 5000})
	_, err := s.Cfg.Store.SQL().ExecContext(t.Context(), "update runs set started_at = $1, ended_at = $2 where id = $3",
		now.Add(-5*time.Hour).UTC(), now.Add(-2*time.Hour).UTC(), run.ID)
	if err != nil {
		t.Fatal(err)
	}
	modelstest.RecordHeartbeat(t, s.Cfg.Store,
		job.Heartbeat{Worker: "w1", WorkerStartedAt: now.Add(-6 * time.Hour), Slots: []job.Slot{{Device: "CPU"}}})
	webtest.WantText(t, s.Browser().Page("/devices", http.StatusOK), "[data-device=CPU] [data-day]",
		"busy 50.0 % of its uptime, 6 h 00 min")
}

// TestDevicesThatNoWorkerServesSayIt checks that a device without a worker is marked as offline, is not preselected,
// and that its run is not called the next one.
func TestDevicesThatNoWorkerServesSayIt(t *testing.T) {
	s := webtest.NewScene(t)
	settings := catalog.TaskSettings{Title: "Elsewhere", Devices: []string{"B200", "T4"}}
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin,
		catalog.NewTask{Slug: "elsewhere", TaskSettings: settings, Bundle: webtest.ExampleTask(t)})
	if err != nil {
		t.Fatal(err)
	}
	b := s.BrowserOf(s.Ada)
	doc := b.Page("/tasks/elsewhere", http.StatusOK)
	webtest.WantText(t, doc, "[aria-labelledby=boards]", "B200 offline")
	webtest.WantText(t, doc, "#submit fieldset", "B200 No worker at the moment")
	if doc.Find("input[name=device][checked]").Length() != 0 {
		t.Error("a device that no one serves is ticked")
	}
	if known := b.Page("/tasks/"+s.Task.Slug, http.StatusOK); known.Find("input[value=H200][checked]").Length() != 1 ||
		known.Find("[aria-labelledby=boards] .tag").Length() != 0 {
		t.Error("a device that is served is not ticked, or said to be offline")
	}
	s.Task = task
	run := s.Submit(s.Ada, "B200", webtest.GoodKernel)
	webtest.WantText(t, b.Page(webtest.SubmissionPath(run), http.StatusOK), "[data-run]",
		"No worker serves B200 at the moment. The run keeps its place and starts when a worker connects.")
	failingWorker(s, "B200", "Out of service: it failed its self-test (CUDA C++).",
		"CUDA C++: a small known program failed in its build stage: /opt/cuda/lib: cudart is missing.")
	webtest.WantText(t, b.Page(webtest.SubmissionPath(run), http.StatusOK), "[data-run]",
		"Worker rack-9: Out of service: it failed its self-test (CUDA C++). The run keeps its place and starts when that is fixed.")
	devices := b.Page("/devices", http.StatusOK)
	webtest.WantText(t, devices, "[data-device=B200] [data-problem]",
		"it failed its self-test (CUDA C++). Waiting runs keep their places.")
	for viewer, sees := range map[*webtest.Browser]bool{s.Browser(): false, b: false, s.BrowserOf(s.Admin): true} {
		for _, path := range []string{"/devices", "/trust", "/api/v1/devices"} {
			if got := strings.Contains(webtest.Body(t, viewer.Get(path)), "/opt/cuda/lib"); got != sees {
				t.Errorf("%s shows what the machine says: %v, want %v", path, got, sees)
			}
		}
	}
	webtest.WantText(t, devices, "[data-worker=rack-9] [data-clock]", "Its clock was 1 h 00 min behind the site's")
	webtest.WantText(t, devices, "[data-worker=rack-9]", "1 of 2 failed")
	var list struct{ Devices []client.Device }
	if err := json.Unmarshal([]byte(webtest.Body(t, b.Get("/api/v1/devices"))), &list); err != nil {
		t.Fatal(err)
	}
	i := slices.IndexFunc(list.Devices, func(d client.Device) bool { return d.Device == "B200" })
	if i < 0 || list.Devices[i].OutOfService != 1 || list.Devices[i].Slots != 0 ||
		!strings.Contains(list.Devices[i].Problem, "failed its self-test") {
		t.Errorf("the API says %+v", list.Devices)
	}
	text := webtest.Body(t, b.Get("/metrics"))
	for _, want := range []string{`warpboard_worker_failed_checks{worker="rack-9"} 1`,
		`warpboard_slots_out_of_service{device="B200"} 1`,
		`warpboard_worker_clock_behind_seconds{worker="rack-9"} 36`} {
		if !strings.Contains(text, want) {
			t.Errorf("the metrics lack %s", want)
		}
	}
}

// failingWorker records one heartbeat of a worker whose only slot failed a self-test and whose clock is an hour behind.
func failingWorker(s *webtest.Scene, device, public, why string) {
	s.T.Helper()
	beat := job.Heartbeat{Worker: "rack-9", WorkerStartedAt: time.Now(), Time: time.Now().Add(-time.Hour),
		Slots: []job.Slot{{Device: device, DisabledReason: why, PublicReason: public}},
		SelfTestResults: []job.SelfTestResult{{Name: "no network", Passed: true, Detail: "none"},
			{Name: "CUDA C++ on " + device, Detail: why}}}
	if err := s.Cfg.Store.Fleet.SaveHeartbeat(s.T.Context(), beat); err != nil {
		s.T.Fatal(err)
	}
}
