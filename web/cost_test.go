package web

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"warpboard/e2e/costtest"
	"warpboard/models"
	"warpboard/models/modelstest"
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
	for _, part := range []string{"a b()}", "1 ", "<\n"} {
		var ids []int64
		for i := range 4 {
			run := s.submit(s.ada, "H200", strings.Repeat(part, (views.MostColoured-8)/len(part))+fmt.Sprint(i))
			s.finish(run, 1e4)
			ids = append(ids, run.SubmissionID)
		}
		s.costs(t, fmt.Sprintf("256 kB of %q", part), func(time int) string { return fmt.Sprintf("/submissions/%d?tab=source", ids[time-1]) })
	}
}

func TestNoComparisonCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	lines := func(count int) string {
		random, text := rand.New(rand.NewPCG(1, uint64(count))), bytes.Buffer{}
		for range count {
			fmt.Fprintf(&text, "%-*d\n", 1_000_000/count-8, random.IntN(1e6))
		}
		return text.String()
	}
	for _, count := range []int{9_999, 40_000} {
		var runs [2]models.Run
		for i := range runs {
			runs[i] = s.submit(s.ada, "H200", lines(count-i*count/100)+fmt.Sprint(i))
			s.finish(runs[i], 1e4)
		}
		s.costs(t, fmt.Sprintf("two sources of %d lines", count), func(time int) string {
			return fmt.Sprintf("/compare?a=%d&b=%d&case=%d", runs[0].ID, runs[1].ID, time)
		})
	}
}

func TestNoDescriptionCostsItsReadersMoreThanARequestMay(t *testing.T) {
	s := newScene(t)
	columns := "|" + strings.Repeat("a|", 5000) + "\n|" + strings.Repeat("-|", 5000) + "\n"
	var paths []string
	for i := range 4 {
		bundle := modelstest.Bundle(fmt.Sprint("wide-", i))
		bundle.Definition.Description = fmt.Sprint(i, "\n\n", columns, strings.Repeat("|\n", 20_000))
		task, err := s.Store.CreateTask(t.Context(), s.admin, models.NewTask{TaskSettings: models.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, "/tasks/"+task.Slug)
	}
	s.costs(t, "a table of 5,000 columns", func(time int) string { return paths[time-1] })
}
