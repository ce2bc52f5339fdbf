package boards_test

import (
	"fmt"
	"net/http"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/web/webtest"
)

// TestABoardOfTheShortestAndTheLongestTimesIsAPage checks a board with the shortest and longest times that the database
// accepts. Before that limit, a denormal time made each request for its board allocate until memory ran out.
func TestABoardOfTheShortestAndTheLongestTimesIsAPage(t *testing.T) {
	s := webtest.Start(t)
	author := modelstest.Person(t, s.Cfg.Store, "author", accounts.RoleCreator)
	task := modelstest.Task(t, s.Cfg.Store, author, "sort", "CPU")
	for i, ns := range []float64{1, 1.0000000000000002, 1e18, 1.7e308} {
		low, high, roof := 1.0, max(ns, 1e18), 5e-324
		who := modelstest.Person(t, s.Cfg.Store, fmt.Sprintf("p%d", i), accounts.RoleUser)
		webtest.Scored(t, s.Cfg.Store, who, task,
			work.Score{NS: ns, Interval: boards.Interval{LowNS: &low, HighNS: &high, Processes: 5},
				RooflineShare: &roof})
	}
	visitor := s.Browser()
	for _, path := range []string{"/tasks/sort/boards/CPU", "/tasks/sort", "/tasks", "/", "/api/v1/boards/sort/CPU"} {
		if page := visitor.Bytes(t, path, http.StatusOK); len(page) > 120_000 {
			t.Errorf("%s has %d bytes", path, len(page))
		}
	}
}
