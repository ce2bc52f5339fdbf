package web

import (
	"fmt"
	"net/http"
	"testing"
)

func TestAdminPausesADeviceAndEverybodySeesIt(t *testing.T) {
	s := newScene(t)
	admin, visitor := s.browserOf(s.admin), s.browser()
	if visitor.page("/devices", http.StatusOK).Find("#devices form").Length() > 0 {
		t.Error("a visitor is offered what only admins may do")
	}
	wantStatus(t, s.browserOf(s.ada).post("/devices/H200/pause", nil), http.StatusForbidden)
	press := func(action string) {
		t.Helper()
		form := admin.page("/devices", http.StatusOK).Find("[data-device=H200] form")
		if got := form.AttrOr("action", ""); got != action {
			t.Fatalf("the button leads to %q, want %q", got, action)
		}
		checkSound(t, document(t, admin.post(action, nil), http.StatusOK))
	}
	press("/devices/H200/pause")
	doc := visitor.page("/devices", http.StatusOK)
	wantText(t, doc, "[data-device=H200] .card-head", "paused")
	wantText(t, doc, "[data-device=H200] .callout", s.admin.Name+" paused this device")
	waits := visitor.page(fmt.Sprintf("/submissions/%d", s.queued.SubmissionID), http.StatusOK)
	wantText(t, waits, "main", s.admin.Name+" paused H200; the run keeps its place")
	wantText(t, s.browserOf(s.ada).page("/tasks/"+s.task.Slug, http.StatusOK), "main", "Paused, 1 waiting")
	press("/devices/H200/resume")
	if visitor.page("/devices", http.StatusOK).Find("[data-device=H200] .callout").Length() > 0 {
		t.Error("a device that was resumed is still shown as paused")
	}
}

func TestDevicesPageShowsWhatAWorkerEvaluatesWith(t *testing.T) {
	doc := newScene(t).browser().page("/devices", http.StatusOK)
	wantText(t, doc, "[data-worker=rack-7] [data-tools]", "nvcc 12.8.93 CUDA 12.8")
}
