package web_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/web/webtest"
)

func TestMetricsTellOfQueueWorkersAndRuns(t *testing.T) {
	s := webtest.NewScene(t)
	webtest.WantStatus(t, s.BrowserOf(s.Admin).Post("/devices/H200/pause", nil), http.StatusOK)
	text := webtest.Body(t, s.Browser().Get("/metrics"))
	for _, want := range []string{
		`warpboard_runs_queued{device="H200"} `, `warpboard_runs_active{device="H200"} `,
		`warpboard_slots{device="H200"} `,
		`warpboard_slots_busy{device="H200"} `, `warpboard_device_paused{device="H200"} 1`,
		`warpboard_worker_up{worker="rack-7"} 1`,
		`warpboard_run_seconds_count{state="done"} `, `warpboard_run_seconds_count{state="failed"} `,
		`warpboard_run_wait_seconds_count `, `warpboard_stage_seconds_count{stage="build",status="pass"} `,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("metrics lack %s", want)
		}
	}
	if strings.Contains(text, `warpboard_run_seconds_count{state="done"} 0`) {
		t.Error("no run was counted")
	}
}
