package e2e

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
)

// TestTheFirstOfABoardIsConfirmed runs everything on the CPU: a kernel takes the lead, the worker measures both kernels
// again in alternation, and the board shows the new numbers. Both kernels only sleep, with times that differ by a
// factor of twenty, so that a busy machine does not change their order.
func TestTheFirstOfABoardIsConfirmed(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s := startTaskSite(t, "--confirm-records")
	slow, fast := s.person(t, "Slow", accounts.RoleUser), s.person(t, "Fast", accounts.RoleUser)
	slow.ended(slow.submit(job.ModeRanked, kernel("usleep(20000);")))
	first := fast.submit(job.ModeRanked, kernel("usleep(1000);"))
	selected := fast.ended(first)
	tier.WaitFor(t, "the confirmation", func() error {
		resp, err := http.Get(s.url + "/submissions/" + strconv.FormatInt(first, 10))
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		page, err := io.ReadAll(resp.Body)
		if err == nil && !strings.Contains(string(page), `<span class="tag">confirmed</span>`) {
			err = errors.New("the page does not say that it is confirmed")
		}
		return err
	})
	board, err := fast.Board(t.Context(), smallTask, "CPU", 1)
	if err != nil || len(board.Entries) != 2 {
		t.Fatalf("the board is %+v, %v", board, err)
	}
	entry := board.Entries[0]
	if entry.User.Name != "Fast" || entry.AwaitsConfirmation || entry.ScoreNS == *selected.ScoreNS ||
		entry.ScoreNS != *fast.look(first).ScoreNS {
		t.Errorf("Fast was selected by %v ns, and the board is %+v", *selected.ScoreNS, board.Entries)
	}
}
