package runs

import (
	"context"
	"slices"
	"time"

	"warpboard/clients/go"
	"warpboard/models/boards"
	"warpboard/models/work"
)

// SubmissionView is a submission with its runs, without parts that the viewer may not see. Pages, the API, popcorn, and
// MCP format it.
type SubmissionView struct {
	SubmissionAccess
	Runs     []RunView
	HasEnded bool // all runs have ended

	stages map[int64][]work.Stage // stages by run ID: of these runs, of their profiles, and of other requested runs
}

// RunView is a run of a SubmissionView.
type RunView struct {
	RunAccess
	StagesAndProfile
	Outcome           *boards.Outcome // nil unless the run is on the board of the task's current version
	ValidationResult  boards.ValidationResult
	QueuePosition     int           // 0 if the run does not wait
	ExpectedWait      time.Duration // 0 if unknown
	MissingWorkerText string        // worker that the run needs although slots may be free: "a worker that has …"
	// QueuedDevice is the device that the run waits for; nil if the run does not wait or the device is unknown.
	QueuedDevice *client.Device
}

// ReadSubmission reads the runs of a submission, in at most nine queries.
func (s *Runs) ReadSubmission(ctx context.Context, seen SubmissionAccess) (SubmissionView, error) {
	family, err := s.site.Store.Work.SubmissionRuns(ctx, seen.Submission.ID)
	if err != nil {
		return SubmissionView{}, err
	}
	return s.readWithRuns(ctx, seen, family)
}

// readWithRuns reads a submission for its viewer, as ReadSubmission does, for callers that have already read its runs:
// family has them. more lists the IDs of further runs, such as those that measured a run again, whose stages the view
// also gets in its field stages.
func (s *Runs) readWithRuns(
	ctx context.Context, seen SubmissionAccess, family work.SubmissionRuns, more ...int64,
) (r SubmissionView, err error) {
	list, standing, waits := make([]RunAccess, len(family.Runs)), []boards.Entry{}, false
	r = SubmissionView{SubmissionAccess: seen, HasEnded: true}
	for i, run := range family.Runs {
		list[i] = RunAccess{seen, run}
		if run.MayBeEntry() && run.VersionID == seen.Task.VersionID {
			standing = append(standing, run.BoardEntry())
		}
		r.HasEnded, waits = r.HasEnded && run.State.IsFinal(), waits || run.State == work.StateQueued
	}
	of, stages, err := s.readStagesAndProfile(ctx, list, family.Profiles, more...)
	if err != nil {
		return r, err
	}
	outcomes, validated, err := s.site.Store.Boards.Outcomes(ctx, standing...)
	if err != nil {
		return r, err
	}
	r.stages = stages
	for _, one := range list {
		id := one.Run.ID
		if !seen.MaySeeSource {
			one.Run.Failure = NewRedactor(seen.Version.Definition).RedactFailure(one.Run.Failure)
		}
		if o := outcomes[id]; o != nil && !seen.MaySeeTask {
			o.HideNext()
		}
		r.Runs = append(r.Runs, RunView{
			RunAccess:        one,
			StagesAndProfile: of[id],
			Outcome:          outcomes[id],
			ValidationResult: validated[id],
		})
	}
	if waits {
		err = s.addQueuePositions(ctx, r)
	}
	return r, err
}

// addQueuePositions sets the queue positions of waiting runs, and estimates of their waits from recent runs.
func (s *Runs) addQueuePositions(ctx context.Context, r SubmissionView) error {
	places, err := s.site.Store.Work.QueuePositions(ctx, r.Submission.ID)
	if err != nil {
		return err
	}
	devices, err := s.DeviceList(ctx)
	if err != nil {
		return err
	}
	// no error to check: DeviceList has just read the workers
	workers, _ := s.site.Store.Fleet.RecentWorkers(s.site.Now())
	var busy []string
	for i := range r.Runs {
		run := &r.Runs[i]
		at := slices.IndexFunc(devices, func(d client.Device) bool { return d.Device == run.Run.Device })
		if run.Run.State == work.StateQueued {
			run.MissingWorkerText = s.site.Store.Fleet.MissingWorkerTextAmong(workers, run.Run.Device, run.Run.Requires, s.site.Now())
		}
		if run.QueuePosition = places[run.Run.ID]; at < 0 || run.Run.State != work.StateQueued {
			continue
		}
		if run.QueuedDevice = &devices[at]; run.waitsBehindOthers() {
			busy = append(busy, run.Run.Device)
		}
	}
	if len(busy) == 0 {
		return nil
	}
	took, err := s.site.Store.Fleet.MedianRunTimes(ctx, busy...)
	for i, run := range r.Runs {
		if run.waitsBehindOthers() {
			r.Runs[i].ExpectedWait = took[run.Run.Device] * time.Duration(run.QueuePosition) / time.Duration(run.QueuedDevice.Slots)
		}
	}
	return err
}

// waitsBehindOthers reports whether a run waits for a slot behind other runs.
func (r RunView) waitsBehindOthers() bool {
	d := r.QueuedDevice
	return d != nil && r.MissingWorkerText == "" && d.Slots > 0 && d.PausedSince == nil && IdleSlots(*d) < r.QueuePosition
}
