package web

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/models/work"
	"warpboard/views"
)

// costs reads a page that is another one each time, as nothing is kept of it.
func (s *scene) costs(t *testing.T, what string, path func(time int) string) {
	t.Helper()
	b, times := s.browserOf(s.ada), 0
	costtest.Check(t, what, func() {
		times++
		resp := b.get(path(times))
		defer resp.Body.Close()
		if n, err := io.Copy(io.Discard, resp.Body); err != nil || resp.StatusCode != 200 || n == 0 {
			t.Errorf("%s: %s, %d bytes, %v", what, resp.Status, n, err)
		}
	})
}

func TestNoSourceCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	var ids []int64
	for i := range 4 {
		run := s.submit(s.ada, "H200", strings.Repeat("1 ", views.MostColoured/2-8)+fmt.Sprint(i))
		s.finish(run, 1e4)
		ids = append(ids, run.SubmissionID)
	}
	s.costs(t, "256 kB of numbers", func(time int) string { return fmt.Sprintf("/submissions/%d?tab=source", ids[time-1]) })
}

func TestNoComparisonCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	var runs [2]work.Run
	for i := range runs {
		random, text := rand.New(rand.NewPCG(1, uint64(i))), bytes.Buffer{}
		for range 9_999 {
			fmt.Fprintf(&text, "%-40d\n", random.IntN(1e6))
		}
		runs[i] = s.submit(s.ada, "H200", text.String())
		s.finish(runs[i], 1e4)
	}
	s.costs(t, "two sources of 9,999 lines", func(time int) string {
		return fmt.Sprintf("/compare?a=%d&b=%d&case=%d", runs[0].ID, runs[1].ID, time)
	})
}

func TestNoDescriptionCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	columns := "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n"
	var paths []string
	for i := range 4 {
		bundle := modelstest.Bundle(fmt.Sprint("wide-", i))
		bundle.Definition.Description = fmt.Sprint(i, "\n\n", columns, strings.Repeat("|\n", 20_000))
		task, err := s.site.Store.Catalog.CreateTask(t.Context(), s.admin, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/tasks/"+task.Slug)
	}
	s.costs(t, "a table of 5,000 columns", func(time int) string { return paths[time-1] })
}
