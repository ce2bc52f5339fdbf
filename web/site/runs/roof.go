package runs

import (
	"context"
	"slices"

	"warpboard/models/boards"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/charts"
)

// BoardRoofOf returns the roofline chart of a board: the limits of its device and the points of its best entries. The
// board is that of the first record that has a profile, and the chart shows the first benchmark case. ok is false if no
// record has a usable profile.
func (s *Runs) BoardRoofOf(
	ctx context.Context, records []boards.TaskRecord,
) (of boards.TaskRecord, roof charts.BoardRoof, ok bool, err error) {
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
		facts, found, err := s.factsOfCase(profile, 0)
		if err != nil {
			return of, roof, false, err
		}
		if !found || !facts.hasDot || facts.bandwidth <= 0 {
			continue
		}
		roof.Bandwidth = facts.bandwidth
		roof.Dots, _, err = s.BoardRooflineDots(ctx, RunAccess{SubmissionAccess{MaySeeTask: true}, work.Run{VersionID: record.VersionID, Work: work.Work{Device: record.Device}}}, 0)
		// The record's run is not among the points if another run has beaten it or if its software is older than the
		// board's.
		if !slices.ContainsFunc(roof.Dots, func(d charts.RooflineDot) bool { return d.RunID == record.RunID }) {
			own := facts.rooflineDot
			own.RunID, own.Name, own.URL = record.RunID, record.UserName, string(views.ProfileURL(record.SubmissionID, record.RunID))
			roof.Dots = append(roof.Dots, own)
		}
		return record, roof, err == nil && roof.HasChart(), err
	}
	return of, roof, false, nil
}
