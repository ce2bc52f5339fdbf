package operation_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/requirement"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// manyPackages lists the packages of a typical worker.
func manyPackages() requirement.Packages {
	packages := requirement.Packages{"torch": "2.9.0+cu128", "triton": "3.5.0", "nvidia-cutlass-dsl": "3.9.2", "numpy": "2.3.4",
		"nvidia-cusparselt-cu12": "0.7.1", "a-package-with-a-very-long-name-that-does-not-fit-beside-its-version": "2025.11.1.dev20251101+g0123456789abcdef"}
	for i := range 90 {
		packages[fmt.Sprintf("package-%02d", i)] = fmt.Sprintf("%d.%d.0", i%7, i)
	}
	return packages
}

func TestTheSoftwareOfADeviceListsItsPackages(t *testing.T) {
	s := webtest.NewScene(t)
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{
		Worker:   "rack-7",
		Packages: manyPackages(),
		Slots:    []job.Slot{{Device: "H200"}},
	})
	doc := s.Browser().Page("/devices/H200/drift", http.StatusOK)
	webtest.CheckSound(t, doc)
	webtest.WantText(t, doc, "details[data-packages=rack-7]", "96 packages")
	webtest.WantText(t, doc, "details[data-packages=rack-7] li:last-child", "triton 3.5.0")
	for path, want := range map[string]bool{"/api/v1/devices": false, "/api/v1/devices?packages=true": true} {
		resp := s.Ask("GET", path, "", "")
		if got := strings.Contains(webtest.Body(t, resp), `"nvidia-cutlass-dsl":"3.9.2"`); got != want {
			t.Errorf("%s lists them: %v", path, got)
		}
	}
}

func TestARunSaysForWhichPackagesItWaits(t *testing.T) {
	s := webtest.NewScene(t)
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{
		Worker:   "rack-7",
		Packages: manyPackages(),
		Slots:    []job.Slot{{Device: "H200"}},
	})
	b := modelstest.Bundle("dsl")
	b.Definition.RequiredPackages = requirement.List{"nvidia-cutlass-dsl>=4", "torch"}
	task, err := s.Cfg.Store.Catalog.CreateTask(t.Context(), s.Admin, catalog.NewTask{
		TaskSettings: catalog.TaskSettings{Devices: []string{"H200"}},
		Bundle:       b,
	})
	if err != nil {
		t.Fatal(err)
	}
	const lack = "a worker that has nvidia-cutlass-dsl>=4; H200's workers have nvidia-cutlass-dsl 3.9.2"
	sent, err := s.API(s.Ada).Submit(t.Context(), client.NewSubmission{
		Task:   task.Slug,
		Mode:   job.ModeRanked,
		Source: "int main() {}",
	})
	if err != nil || sent.Runs[0].WaitsFor != lack {
		t.Fatalf("%+v, %v", sent, err)
	}
	visitor := s.Browser()
	webtest.WantText(t, visitor.Page(fmt.Sprintf("/submissions/%d", sent.ID), http.StatusOK), "main", "Waiting. It waits for "+lack)
	queue := visitor.Page("/devices", http.StatusOK)
	webtest.WantText(t, queue, fmt.Sprintf("[data-run='%d'] [data-lack]", sent.Runs[0].ID), "waits for "+lack)
	webtest.WantText(t, visitor.Page("/tasks/dsl", http.StatusOK), "main", "nvidia-cutlass-dsl>=4, torch")
	webtest.WantText(t, s.BrowserOf(s.Admin).Page("/tasks/dsl/trial", http.StatusOK), "[data-lack]", "Runs of this task wait for "+lack)
	read, err := s.API(s.Ada).Task(t.Context(), "dsl")
	if err != nil || len(read.Require) != 2 {
		t.Errorf("%+v, %v", read, err)
	}
}

func TestPackagesLookRight(t *testing.T) {
	s := webtest.NewScene(t)
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{
		Worker:   "rack-7",
		Packages: manyPackages(),
		Slots:    []job.Slot{{Device: "H200"}},
	})
	modelstest.RecordHeartbeat(t, s.Cfg.Store, job.Heartbeat{
		Worker:   "rack-8",
		Packages: requirement.Packages{"torch": "2.8.0"},
		Slots:    []job.Slot{{Device: "H200"}},
	})
	s.SQL("update runs set requires = 'nvidia-cutlass-dsl>=4,<5 triton>=4' where id = $1", s.Queued.ID)
	w := s.Window()
	w.Visit("/devices/H200/drift")
	w.Eval("document.querySelector('[data-packages]').open = true")
	w.LooksRight("packages")
	w.Visit("/devices")
	w.LooksRight("queue-lack")
	w.Visit(fmt.Sprintf("/submissions/%d", s.Queued.SubmissionID))
	w.LooksRight("run-lack")
}
