package runs

import (
	"context"

	"warpboard/models/boards"
	"warpboard/models/db"
)

// RivalEntries has other people's entries that pages show beside a run.
type RivalEntries struct {
	LeadingEntries []boards.Standing // first entries of the run's board
	EntryAbove     *boards.Standing  // entry ahead of the person's own; nil if there is none
}

// Rivals reads the first entries of a run's board, up to limit, and the entry ahead of a person's own entry (unless
// person is 0). It returns nothing if the viewer may not see the task, so the pages of a run must use it to
// read boards.
func (s *Runs) Rivals(ctx context.Context, seen RunAccess, person int64, limit int) (r RivalEntries, err error) {
	if !seen.MaySeeTask {
		return r, nil
	}
	run := seen.Run
	if r.LeadingEntries, err = s.site.Store.Boards.LeadingEntries(ctx, run.VersionID, run.Device, limit); err != nil || person == 0 {
		return r, err
	}
	own, err := s.site.Store.Boards.PersonPlace(ctx, run.VersionID, run.Device, person)
	if err == nil && own.Rank > 1 {
		r.EntryAbove, err = s.site.Store.Boards.EntryAbove(ctx, own.Entry)
	}
	if db.KindOf(err) == db.NotFound {
		err = nil
	}
	return r, err
}

// BoardLeader returns the ID of the board's first run, which pages offer for a comparison. It returns 0 if the run
// itself is first or has no score.
func (s *Runs) BoardLeader(ctx context.Context, seen RunAccess) (int64, error) {
	if seen.Run.ScoreNS == nil {
		return 0, nil
	}
	rivals, err := s.Rivals(ctx, seen, 0, 1)
	return rivals.leader(seen), err
}

func (r RivalEntries) leader(seen RunAccess) int64 {
	if seen.Run.ScoreNS == nil || len(r.LeadingEntries) == 0 || r.LeadingEntries[0].RunID == seen.Run.ID {
		return 0
	}
	return r.LeadingEntries[0].RunID
}
