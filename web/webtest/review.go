package webtest

import (
	"fmt"
	"net/http"
)

// Flag adds a flag, as if the site had raised it, to the n-th entry of the H200 board, and marks its run as disturbed.
func (s *Scene) Flag(n int, kind, disturbed string) {
	s.T.Helper()
	entry := s.BrowserOf(s.Admin).Page("/tasks/"+s.Task.Slug+"/boards/H200",
		http.StatusOK).Find("[data-entry]").Eq(n).AttrOr("data-entry", "")
	statements := []string{
		fmt.Sprintf(
			"insert into flags (run_id, kind, user_id, detail, created_at) values (%s, '%s', 0, 'for a test', current_timestamp)", entry, kind),
		fmt.Sprintf("update runs set disturbed = '%s' where id = %s", disturbed, entry),
	}
	if kind == "clocks" {
		statements = append(statements, fmt.Sprintf(`insert into clock_differences (run_id, stage, spec, cases, clock, event_ns, wall_ns, snapshot_ns, tolerance_ns)
			values (%s, 'ranked', 'size: %d', 2, 'wall', 10000, %d, 12000, 1500)`, entry, n+1, 14000+1000*n))
	}
	for _, statement := range statements {
		if _, err := s.Cfg.Store.SQL().ExecContext(s.T.Context(), statement); err != nil {
			s.T.Fatal(err)
		}
	}
}
