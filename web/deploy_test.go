package web

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

// TestAlertsAndDashboardUseMetricsThatExist, of a site on which something has happened.
func TestAlertsAndDashboardUseMetricsThatExist(t *testing.T) {
	s := newScene(t, func(c *Config) { c.Queue, c.Disk = &sickQueue{}, t.TempDir() })
	s.browserOf(s.admin).post("/devices/H200/pause", nil)
	exported := body(t, s.browser().get("/metrics"))
	for _, file := range []string{"alerts.yaml", "grafana.json", "kubernetes/keda.yaml"} {
		text, err := os.ReadFile("../deploy/" + file)
		if err != nil {
			t.Fatal(err)
		}
		names := regexp.MustCompile(`warpboard_[a-z_]+`).FindAllString(string(text), -1)
		if len(names) == 0 {
			t.Errorf("%s names no metric", file)
		}
		for _, name := range names {
			if !strings.Contains(exported, "\n"+name+"{") && !strings.Contains(exported, "\n"+name+" ") {
				t.Errorf("%s uses %s, which the site does not export", file, name)
			}
		}
	}
}
