package runs

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/models"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/format"
	"warpboard/web/site"
)

// maxUnpacked bounds a parsed report in bytes; real ones have about one million.
const maxUnpacked = 32 << 20

// RunAccess is a run, and what the one who asks may see of its submission.
type RunAccess struct {
	Access
	Run models.Run
}

// LoadRun reads the run in an address below its submission's.
func (s *Runs) LoadRun(c *fiber.Ctx) (seen RunAccess, err error) {
	id, err := site.IDParam(c, "run")
	if err != nil {
		return seen, err
	}
	submission, err := site.IDParam(c, "id")
	if err != nil {
		return seen, err
	}
	if seen, err = s.RunByID(c, id); err == nil && seen.Sub.ID != submission {
		err = site.NotFound(c)
	}
	return seen, err
}

// RunByID is LoadRun for an id that comes from elsewhere.
func (s *Runs) RunByID(c *fiber.Ctx, id int64) (seen RunAccess, err error) {
	list, err := s.RunsByID(c, id)
	if err != nil {
		return seen, err
	}
	return list[0], nil
}

// RunsByID is RunByID of several runs, in two queries.
func (s *Runs) RunsByID(c *fiber.Ctx, ids ...int64) (list []RunAccess, err error) {
	found, err := s.Store.RunsByID(c.UserContext(), ids...)
	if err != nil {
		return nil, err
	}
	var submissions []int64
	for _, run := range found {
		submissions = append(submissions, run.SubmissionID)
	}
	filed, err := s.Store.Filed(c.UserContext(), submissions...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		run, there := found[id]
		access, err := s.access(c, filed, run.SubmissionID)
		if !there || err != nil {
			return nil, models.Errorf(models.NotFound, "There is no run %d.", id)
		}
		list = append(list, RunAccess{access, run})
	}
	return list, nil
}

// profileState says why a run has left no profile so far; nothing when it has ended well.
func profileState(run models.Run) string {
	switch {
	case run.State == models.StateDone:
		return ""
	case run.State == models.StateQueued:
		return fmt.Sprintf("The profile waits until nothing else waits for %s.", run.Device)
	case !run.State.Final():
		return "The profile is being made now: Nsight Compute replays every kernel some forty times."
	case run.Failure != nil:
		return run.Failure.Reason
	}
	return "The profile was cancelled."
}

// MissingReason says why a case has no report.
func (p Profile) MissingReason(index int) string {
	for _, c := range p.Cases {
		if c.Index == index && c.Status != job.StatusPass {
			return c.Message
		}
	}
	if p.Missing != "" {
		return p.Missing
	}
	return "This benchmark case was not profiled."
}

func reportName(index int) string { return fmt.Sprintf("profile.%d.json.gz", index) }

// ReportFileName is the name under which the file that ncu wrote of a case is kept.
func ReportFileName(index int) string { return fmt.Sprintf("profile.%d.ncu-rep.gz", index) }

// ReportFile is what ncu wrote of a case, if it was kept: packed, but for what the first workers left.
func (p Profile) ReportFile(index int) (a models.Artifact, kept bool) {
	name := ReportFileName(index)
	if a, kept = p.files[name]; !kept {
		a, kept = p.files[strings.TrimSuffix(name, ".gz")]
	}
	return a, kept
}

// Report reads the parsed report of a case; nil when there is none.
func (s *Runs) Report(p Profile, index int) (*ncu.Report, error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return nil, nil
	}
	f, err := s.Store.OpenArtifact(s.Requests, artifact)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var report ncu.Report
	z, err := gzip.NewReader(f)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(z, maxUnpacked)).Decode(&report)
	}
	if err != nil {
		return nil, fmt.Errorf("read %s of run %d: %w", artifact.Name, p.Run.ID, err)
	}
	return &report, nil
}

// HideSource takes out of a report what shows the program itself.
func HideSource(report *ncu.Report) {
	for i := range report.Kernels {
		report.Kernels[i].Source = nil
	}
}

// CaseSpec shortens a case's line for a tab.
func CaseSpec(spec string) string { return strings.ReplaceAll(spec, "; ", ", ") }

const (
	// rememberedFacts is how many reports' facts are kept; each has some 100 bytes.
	rememberedFacts = 10000
	// otherDots is how many of a board's best entries are drawn into a roofline.
	otherDots = 8
)

// reportFacts is what pages show of reports that they do not open.
type reportFacts struct {
	dot       charts.Dot // without name and address
	drawn     bool       // the dot is there
	bandwidth float64    // the device's roofs, in bytes and operations per second; 0: unknown
	flops     float64
	kind      string // of the operations: "FP32"
}

// factCache remembers facts by their report's hash, because reports are large and never change.
// It may be used by many requests at once.
type factCache struct {
	mu    sync.Mutex
	known map[string]reportFacts
}

func (f *factCache) get(hash string) (reportFacts, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	facts, ok := f.known[hash]
	return facts, ok
}

func (f *factCache) put(hash string, facts reportFacts) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil || len(f.known) >= rememberedFacts {
		f.known = map[string]reportFacts{}
	}
	f.known[hash] = facts
}

// facts gives what is remembered of a case's report; ok is false when the case has none.
func (s *Runs) facts(p Profile, index int) (facts reportFacts, ok bool, err error) {
	artifact, ok := p.files[reportName(index)]
	if !ok {
		return facts, false, nil
	}
	if facts, ok = s.profileFacts.get(artifact.Hash); ok {
		return facts, true, nil
	}
	report, err := s.Report(p, index)
	if err != nil {
		return facts, false, err
	}
	facts = factsOf(report)
	s.profileFacts.put(artifact.Hash, facts)
	return facts, true, nil
}

func factsOf(report *ncu.Report) (facts reportFacts) {
	facts.dot, facts.drawn = charts.DotOf("", "", report)
	for i := range report.Kernels {
		roof := ncu.RooflineOf(&report.Kernels[i])
		facts.bandwidth = max(facts.bandwidth, baseOf(roof.PeakBandwidth))
		if main := roof.Main(); main != nil && facts.flops == 0 {
			facts.flops, facts.kind = baseOf(main.Peak), main.Name
		}
	}
	return facts
}

func baseOf(f ncu.Fact) float64 {
	value, ok := f.Value.Base()
	if !ok {
		return 0
	}
	return value
}

// BoardDots are the roofline dots of the board's best other entries.
func (s *Runs) BoardDots(ctx context.Context, run models.Run, index int) ([]charts.Dot, error) {
	board, err := s.Store.Board(ctx, run.VersionID, run.Device, 0, otherDots+1)
	if err != nil {
		return nil, err
	}
	var ids []int64
	for _, st := range board.Standings {
		if st.RunID != run.ID {
			ids = append(ids, st.RunID)
		}
	}
	profiles, err := s.profilesByID(ctx, ids)
	if err != nil {
		return nil, err
	}
	var dots []charts.Dot
	for _, st := range board.Standings {
		profile, ok := profiles[st.RunID]
		if !ok {
			continue
		}
		facts, ok, err := s.facts(profile, index)
		if err != nil {
			return nil, err
		}
		if ok && facts.drawn {
			dot := facts.dot
			dot.Name, dot.URL = fmt.Sprintf("%s. %s", format.Place(st.Rank, st.Tied), st.UserName), string(views.ProfileURL(st.SubmissionID, st.RunID))
			dots = append(dots, dot)
		}
	}
	return dots, nil
}
