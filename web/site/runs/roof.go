package runs

import (
	"context"
	"slices"

	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/charts"
)

// RoofOf draws the board of the first of these records that has a profile: the roofs of its device, and the best
// entries below them. It reads the first benchmark case. ok is false if no record has a profile that can be drawn.
func (s *Runs) RoofOf(ctx context.Context, records []boards.TaskRecord) (of boards.TaskRecord, roof charts.BoardRoof, ok bool, err error) {
	ids := make([]int64, len(records))
	for i, r := range records {
		ids[i] = r.RunID
	}
	profiles, err := s.profilesByID(ctx, ids)
	if err != nil {
		return of, roof, false, err
	}
	for _, record := range records {
		profile, profiled := profiles[record.RunID]
		if !profiled {
			continue
		}
		facts, found, err := s.facts(profile, 0)
		if err != nil {
			return of, roof, false, err
		}
		if !found || !facts.drawn || facts.bandwidth <= 0 {
			continue
		}
		roof.Bandwidth = facts.bandwidth
		roof.Dots, _, err = s.BoardDots(ctx, RunAccess{Access{TaskOpen: true}, work.Run{VersionID: record.VersionID, Work: work.Work{Device: record.Device}}}, 0)
		// it was beaten, or has older software
		if !slices.ContainsFunc(roof.Dots, func(d charts.Dot) bool { return d.Run == record.RunID }) {
			own := facts.dot
			own.Run, own.Name, own.URL = record.RunID, record.UserName, string(views.ProfileURL(record.SubmissionID, record.RunID))
			roof.Dots = append(roof.Dots, own)
		}
		return record, roof, err == nil && roof.HasChart(), err
	}
	return of, roof, false, nil
}
