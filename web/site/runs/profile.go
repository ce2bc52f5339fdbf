package runs

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/work"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/format"
	"warpboard/web/site"
)

// RunAccess is a run with the viewer's rights to its submission.
type RunAccess struct {
	SubmissionAccess
	Run work.Run
}

// LoadRun reads the run of the path, if the viewer may see its submission.
func (s *Runs) LoadRun(c *fiber.Ctx) (seen RunAccess, err error) {
	id, err := site.IDParam(c, "run")
	if err != nil {
		return seen, err
	}
	submission, err := site.IDParam(c, "id")
	if err != nil {
		return seen, err
	}
	if seen, err = s.RunByID(c.UserContext(), site.Actor(c), id); err == nil && seen.Submission.ID != submission {
		err = site.NotFound(c)
	}
	return seen, err
}

// RunByID returns the run with an ID, if the viewer may see its submission.
func (s *Runs) RunByID(ctx context.Context, viewer accounts.User, id int64) (seen RunAccess, err error) {
	list, err := s.RunsByID(ctx, viewer, id)
	if err != nil {
		return seen, err
	}
	return list[0], nil
}

// RunsByID returns several runs with the viewer's rights, in two queries.
func (s *Runs) RunsByID(ctx context.Context, viewer accounts.User, ids ...int64) (list []RunAccess, err error) {
	found, err := s.site.Store.Work.RunsByID(ctx, ids...)
	if err != nil {
		return nil, err
	}
	var submissions []int64
	for _, run := range found {
		submissions = append(submissions, run.SubmissionID)
	}
	filed, err := s.site.Store.Submissions.Details(ctx, submissions...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		run, there := found[id]
		access, err := s.accessOf(viewer, filed, run.SubmissionID)
		if !there || err != nil {
			return nil, db.Errorf(db.NotFound, "There is no run %d.", id)
		}
		list = append(list, RunAccess{access, run})
	}
	return list, nil
}

// pendingReason returns the reason why a profile is not available yet, or "" if the run that makes the profile has
// succeeded.
func pendingReason(run work.Run) string {
	switch {
	case run.State == work.StateDone:
		return ""
	case run.State == work.StateQueued:
		return fmt.Sprintf("The profile runs once nothing else is waiting for %s.", run.Device)
	case !run.State.IsFinal():
		return "Profiling now. Nsight Compute replays each kernel about 40 times."
	case run.Failure != nil:
		return run.Failure.Reason
	}
	return "The profile was cancelled."
}

// CaseIndexOrFirst returns the index of the requested case (asked). If asked is 0 (no case was requested) and case 0
// has no profile, it returns the index of the profile's first case.
func (p Profile) CaseIndexOrFirst(asked int) int {
	if asked != 0 || len(p.Cases) == 0 || slices.ContainsFunc(p.Cases, func(c job.CaseResult) bool { return c.Index == asked }) {
		return asked
	}
	return p.Cases[0].Index
}

// MissingReason returns the reason why a case has no report.
func (p Profile) MissingReason(index int) string {
	for _, c := range p.Cases {
		if c.Index == index && c.Status != job.StatusPass && c.Message != "" {
			return c.Message
		}
	}
	if p.NoProfileReason != "" {
		return p.NoProfileReason
	}
	return "This benchmark case was not profiled."
}

func reportName(index int) string { return fmt.Sprintf("profile.%d.json.gz", index) }

// ReportHash returns the hash of a case's report, or "" if there is none.
func (p Profile) ReportHash(index int) string { return p.files[reportName(index)].Hash }

// parseReportName parses the name of ncu's report file: "profile.0-2.ncu-rep.gz" contains cases 0 to 2,
// "profile.0.ncu-rep.gz" only case 0. Files of early workers lack ".gz".
func parseReportName(name string) (first, last int, ok bool) {
	cases, ok := strings.CutSuffix(strings.TrimSuffix(name, ".gz"), ".ncu-rep")
	if !ok {
		return 0, 0, false
	}
	cases = strings.TrimPrefix(cases, "profile.")
	from, to, several := strings.Cut(cases, "-")
	if !several {
		to = from
	}
	first, err := strconv.Atoi(from)
	last, wrong := strconv.Atoi(to)
	return first, last, err == nil && wrong == nil
}

// ReportFile is a report file of ncu for one or several cases.
type ReportFile struct {
	work.Artifact
	FirstCase, LastCase int // indexes of the first and the last case in the file
}

// ReportFile returns ncu's report file of a case. kept is false if it was not stored.
func (p Profile) ReportFile(index int) (f ReportFile, kept bool) {
	for name, a := range p.files {
		if first, last, ok := parseReportName(name); ok && first <= index && index <= last {
			return ReportFile{a, first, last}, true
		}
	}
	return f, false
}

// ReportNote returns the reason why ncu's report file of a case was not stored, or "".
func (p Profile) ReportNote(index int) string {
	for name, note := range p.ExtraKeys {
		if first, last, ok := parseReportName(name); ok && first <= index && index <= last {
			return note
		}
	}
	return ""
}

// maxOtherDots is the number of a board's best entries that a roofline chart contains.
const maxOtherDots = 8

// BoardRooflineDots returns the roofline points of the board's best other entries, and the run that the page offers for
// a comparison (see BoardLeader).
func (s *Runs) BoardRooflineDots(
	ctx context.Context, seen RunAccess, index int,
) (dots []charts.RooflineDot, leader int64, err error) {
	rivals, err := s.Rivals(ctx, seen, 0, maxOtherDots+1)
	if err != nil {
		return nil, 0, err
	}
	leader = rivals.leader(seen)
	var ids []int64
	for _, st := range rivals.LeadingEntries {
		if st.RunID != seen.Run.ID {
			ids = append(ids, st.RunID)
		}
	}
	profiles, err := s.profilesByID(ctx, ids)
	if err != nil {
		return nil, 0, err
	}
	for _, st := range rivals.LeadingEntries {
		profile, ok := profiles[st.RunID]
		if !ok {
			continue
		}
		facts, ok, err := s.factsOfCase(profile, index)
		if err != nil {
			return nil, 0, err
		}
		if ok && facts.hasDot {
			dot := facts.rooflineDot
			dot.RunID, dot.Name, dot.URL = st.RunID, fmt.Sprintf("%s. %s", format.Rank(st.Rank, st.Tied), st.UserName), string(views.ProfileURL(st.SubmissionID, st.RunID))
			dots = append(dots, dot)
		}
	}
	return dots, leader, nil
}
