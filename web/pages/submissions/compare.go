package submissions

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/a-h/templ"
	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/models/boards"
	"warpboard/models/db"
	"warpboard/models/epochs"
	"warpboard/tasks"
	"warpboard/views"
	"warpboard/views/charts"
	"warpboard/views/format"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// comparedRun is one of the two runs of a comparison.
type comparedRun struct {
	runs.RunAccess
	cases   []job.CaseResult // timed cases
	profile runs.Profile
}

// Compare shows two runs side by side. If the query does not name both, it shows a form for choosing them.
func (p *Submissions) Compare(c *fiber.Ctx) error {
	if a := c.QueryInt("a"); a <= 0 || c.QueryInt("b") <= 0 || a == c.QueryInt("b") || c.QueryInt("as") > 0 || c.QueryInt("bs") > 0 {
		return p.showRunPicker(c)
	}
	a, b, err := p.comparedRuns(c)
	if err != nil {
		return err
	}
	index := charts.ReadQuery(queryValues(c)).Case
	reports, missing, err := p.bothReports(a, b, index)
	if err != nil {
		return err
	}
	page := views.ComparePage{
		Page: p.site.Page(c, comparisonTitle(a, b), "tasks"), Task: site.TaskLink(a.Task),
		A: a.Run.ID, B: b.Run.ID, NameA: comparedName(a, b), NameB: comparedName(b, a), Heading: comparisonTitle(a, b), Compare: p.renderComparisonCharts(a, b, index, reports, missing),
	}
	page.NeedsChartStyle = true
	both := fmt.Sprintf("?a=%d&b=%d", a.Run.ID, b.Run.ID)
	page.LinkPreview = &views.LinkPreview{Title: fmt.Sprintf("%s: submission %d by %s and %d by %s", a.Task.Title, a.Submission.ID, a.Owner.Name, b.Submission.ID, b.Owner.Name),
		URL: p.site.Settings.BaseURL + "/compare" + both, ImageURL: p.site.PreviewImageURL(),
		JSONURL: "/compare.json" + both}
	if missing == "" && len(reports[0].Kernels)+len(reports[1].Kernels) > 0 {
		page.PinA = templ.SafeURL(fmt.Sprintf("%s?case=%d&pin=%d", views.ProfileURL(b.Submission.ID, b.Run.ID), index, a.Run.ID))
	}
	if page.Best, err = p.viewersEntryRun(c, a, b); err != nil {
		return err
	}
	return p.site.Render(c, fiber.StatusOK, views.Compare(page))
}

// comparisonTitle returns the title of a comparison: the two submissions, or the two devices of one submission.
func comparisonTitle(a, b comparedRun) string {
	if a.Submission.ID == b.Submission.ID && a.Run.Device != b.Run.Device {
		return fmt.Sprintf("#%d on %s vs %s", a.Submission.ID, a.Run.Device, b.Run.Device)
	}
	return fmt.Sprintf("#%d vs #%d", a.Submission.ID, b.Submission.ID)
}

// comparedName returns the name of run r in a comparison with other: its submission's number, followed by its device or
// run number if both runs belong to the same submission.
func comparedName(r, other comparedRun) string {
	name := fmt.Sprintf("#%d", r.Submission.ID)
	switch {
	case r.Submission.ID != other.Submission.ID || r.Run.ID == other.Run.ID:
		return name
	case r.Run.Device != other.Run.Device:
		return name + " on " + r.Run.Device
	}
	return fmt.Sprintf("%s, run %d", name, r.Run.ID)
}

// comparisonData has the data for the charts of a comparison.
type comparisonData struct {
	ShownView       charts.CompareView // without derived parts, but with NoCodeReason
	Ranking         tasks.Ranking
	Cases           [2][]job.CaseResult
	Reports         [2]string // hashes, of one case
	HiddenSides     [2]bool   // the source and the kernels' names of a side are hidden
	Sources, Labels [2]string // hashes, and names of the files
}

// renderComparisonCharts renders the charts of a comparison. It reads reports and sources only if the charts are not
// cached.
func (p *Submissions) renderComparisonCharts(
	a, b comparedRun, index int, reports [2]*ncu.Report, missing string,
) templ.Component {
	ownA, ownB := versus.ScoresOfBoth(a.Version.Definition.RankingBy, a.cases, b.cases)
	vm := charts.CompareView{RunA: newComparedSide(a, b, ownA), RunB: newComparedSide(b, a, ownB), SameSource: a.Submission.SourceHash == b.Submission.SourceHash, BoardScoresNS: boardScores(a, b, ownA, ownB), ConditionsText: conditionsText(a, b, true),
		NoCodeReason: hiddenSourceReason(a, b), PagePath: string(views.CompareURL(a.Run.ID, b.Run.ID)), CaseIndex: index, Cases: caseTabs(a.profile, b.profile)}
	if len(a.profile.Cases)+len(b.profile.Cases) > 0 {
		vm.NoProfileReason = missing
	}
	if a.Version.ID == b.Version.ID {
		vm.Ranking = strings.ToLower(views.RankingName(a.Version.Definition.RankingBy))
	}
	of := fmt.Sprintf("?a=%d&b=%d&case=%d", a.Run.ID, b.Run.ID, index)
	vm.JSONURL, vm.CSVURL = "/compare.json"+of, "/compare.csv"+of
	made := comparisonData{ShownView: vm, Ranking: a.Version.Definition.RankingBy, Cases: [2][]job.CaseResult{a.cases, b.cases},
		Reports: [2]string{a.profile.ReportHash(index), b.profile.ReportHash(index)}, HiddenSides: [2]bool{!a.MaySeeSource, !b.MaySeeSource},
		Sources: [2]string{a.Submission.SourceHash, b.Submission.SourceHash}, Labels: [2]string{a.Submission.FileName, b.Submission.FileName}}
	return p.cachedCharts(made, func(ctx context.Context) (templ.Component, error) {
		vm.TimeComparison = compareTimes(a, b)
		vm.TimeComparison.Cases = charts.CasesWithShortNames(vm.TimeComparison.Cases)
		vm.ConditionsText = conditionsText(a, b, vm.HeadlineRatio().IsClear())
		if missing == "" {
			addKernelPairs(&vm, reports)
		}
		if vm.NoCodeReason != "" {
			return charts.Compare(vm), nil
		}
		vm.SASS = vm.SASSDiffs()
		var err error
		vm.Files, err = p.comparedCode(ctx, a, b)
		return charts.Compare(vm), err
	})
}

// compareTimes compares the case times of two runs. If the runs have different task versions, the ranking rule of a's
// version applies.
func compareTimes(a, b comparedRun) versus.Comparison {
	return versus.CompareRuns(a.Version.Definition.RankingBy, a.cases, b.cases)
}

// viewersEntryRun returns the viewer's entry on the board of run a, unless it is a or b; 0 if there is none.
func (p *Submissions) viewersEntryRun(c *fiber.Ctx, a, b comparedRun) (int64, error) {
	st, err := p.site.Store.Boards.PersonPlace(c.UserContext(), a.Run.VersionID, a.Run.Device, site.Actor(c).ID)
	if db.KindOf(err) == db.NotFound || st.RunID == a.Run.ID || st.RunID == b.Run.ID {
		return 0, nil
	}
	return st.RunID, err
}

// comparedRuns reads both runs of the query, with five queries in total.
func (p *Submissions) comparedRuns(c *fiber.Ctx) (a, b comparedRun, err error) {
	ids := make([]int64, 2)
	for i, name := range []string{"a", "b"} {
		if ids[i] = int64(c.QueryInt(name)); ids[i] <= 0 {
			return a, b, site.Invalid("run", "Name two runs to compare, as in /compare?a=RUN&b=RUN; %s is not a run.", name)
		}
	}
	seen, err := p.runs.RunsByID(c.UserContext(), site.Actor(c), ids...)
	if err != nil {
		return a, b, err
	}
	left, err := p.runs.StagesAndProfileOf(c.UserContext(), seen...)
	return newComparedRun(seen[0], left), newComparedRun(seen[1], left), err
}

func newComparedRun(seen runs.RunAccess, left map[int64]runs.StagesAndProfile) comparedRun {
	of := left[seen.Run.ID]
	cases := slices.Clone(runs.StageOfScore(of.Stages).Cases) // both sides may be one run
	return comparedRun{RunAccess: seen, cases: cases, profile: of.Profile}
}

// newComparedSide returns the chart data of run r. own is the score of the run's own times, which the ratio is based
// on.
func newComparedSide(r, other comparedRun, own float64) charts.ComparedSide {
	s := charts.ComparedSide{
		Name: fmt.Sprintf("Submission %d by %s", r.Submission.ID, r.Owner.Name), ShortName: comparedName(r, other), URL: string(views.SubmissionURL(r.Submission.ID)),
		BoardName: r.Task.Title + " on " + r.Run.Device, SubmittedAt: r.Run.QueuedAt,
	}
	if r.Run.ScoreNS == nil {
		return s
	}
	if s.Score = format.Nanoseconds(cmp.Or(own, *r.Run.ScoreNS)).String(); !r.boardScoreIsOwn(own) {
		s.Note = fmt.Sprintf("This run alone. Its board shows %s, %s", format.Nanoseconds(*r.Run.ScoreNS), r.boardScoreNote())
	}
	return s
}

// boardScoreIsOwn reports whether the run's score on the board equals own, the score of the run's own times.
func (r comparedRun) boardScoreIsOwn(own float64) bool {
	return own == 0 || math.Abs(*r.Run.ScoreNS/own-1) < 1e-9
}

// boardScores returns the scores of both runs on their common board, if the scores differ clearly and at least one is
// not the run's own score.
func boardScores(a, b comparedRun, ownA, ownB float64) (scores [2]float64) {
	if !a.Run.MayBeEntry() || !b.Run.MayBeEntry() || a.boardScoreIsOwn(ownA) && b.boardScoreIsOwn(ownB) {
		return scores
	}
	left, right := a.Run.BoardEntry(), b.Run.BoardEntry()
	if left.VersionID != right.VersionID || left.Device != right.Device || left.EpochSortKey != right.EpochSortKey || boards.MayBeTied(left, right) {
		return scores
	}
	return [2]float64{left.ScoreNS, right.ScoreNS}
}

// boardScoreNote explains why the run's score on the board differs from the score of the run's own times.
func (r comparedRun) boardScoreNote() string {
	if r.Run.PooledRunCount > 1 {
		return fmt.Sprintf("from %d runs of this source combined", r.Run.PooledRunCount)
	}
	return "measured again since"
}

// caseTabs returns the cases of several profiles without duplicates.
func caseTabs(profiles ...runs.Profile) []charts.CaseTab {
	var tabs []charts.CaseTab
	var specs []string
	seen := map[int]bool{}
	for _, p := range profiles {
		for _, c := range p.Cases {
			if !seen[c.Index] {
				seen[c.Index] = true
				tabs, specs = append(tabs, charts.CaseTab{Index: c.Index}), append(specs, c.SpecLine)
			}
		}
	}
	for i, name := range charts.CaseNames(specs) {
		tabs[i].Name = name
	}
	return tabs
}

// addReports adds the comparison of the two profile reports of the case, or a note about the missing one.
func (p *Submissions) addReports(vm *charts.CompareView, a, b comparedRun, index int) error {
	reports, why, err := p.bothReports(a, b, index)
	if err != nil || why != "" {
		vm.NoProfileReason = why
		return err
	}
	addKernelPairs(vm, reports)
	return nil
}

// addKernelPairs adds a comparison of each kernel that both reports have, and possible causes of the difference.
func addKernelPairs(vm *charts.CompareView, reports [2]*ncu.Report) {
	vm.Pairs = ncu.CompareReports(reports[0], reports[1])
	if because, ok := ncu.ExplainDifference(reports[0], reports[1]); ok {
		vm.Explanation = &because
	}
}

// bothReports reads both profile reports of a case. If one is missing, why explains that.
func (p *Submissions) bothReports(a, b comparedRun, index int) (reports [2]*ncu.Report, why string, err error) {
	names := []string{comparedName(a, b), comparedName(b, a)}
	for i, r := range []comparedRun{a, b} {
		if reports[i], err = p.runs.ReportForViewer(r.SubmissionAccess, r.profile, index); err != nil {
			return reports, "", err
		}
		if reports[i] == nil {
			return reports, fmt.Sprintf("%s has no profile of this case: %s", names[i], r.profile.MissingReason(index)), nil
		}
	}
	return reports, "", nil
}

// hiddenSourceReason returns the reason why the viewer may not see both sources, or "".
func hiddenSourceReason(a, b comparedRun) string {
	for _, r := range []comparedRun{a, b} {
		if !r.MaySeeSource {
			return runs.SourcePrivateText(fmt.Sprintf("The source of submission %d", r.Submission.ID), r.Task)
		}
	}
	return ""
}

// comparedCode returns the differences of the submitted files of two runs.
func (p *Submissions) comparedCode(ctx context.Context, a, b comparedRun) ([]charts.FileDiff, error) {
	texts, err := p.site.Store.Submissions.Sources(ctx, []int64{a.Submission.ID, b.Submission.ID})
	if err != nil {
		return nil, err
	}
	name := a.Submission.FileName
	if b.Submission.FileName != name {
		name += " → " + b.Submission.FileName
	}
	before, after := texts[a.Submission.ID], texts[b.Submission.ID]
	var both format.TextComparer
	all := []charts.FileDiff{{Name: name, Lines: both.Diff(string(before.Source), string(after.Source))}}
	for _, name := range before.NamesOfBoth(after) {
		all = append(all, charts.FileDiff{
			Name:  name + missingFileNote(before.Files[name], after.Files[name], a, b),
			Lines: both.Diff(string(before.Files[name]), string(after.Files[name])),
		})
	}
	return all, nil
}

// missingFileNote returns a note that an additional file is in only one of the two submissions, or "". before and after
// are the file's contents; nil means that the file is missing.
func missingFileNote(before, after []byte, a, b comparedRun) string {
	switch {
	case before == nil:
		return " (only in " + comparedName(b, a) + ")"
	case after == nil:
		return " (only in " + comparedName(a, b) + ")"
	}
	return ""
}

const (
	minClockDifference  = 0.02           // relative difference of a clock that may show in times
	longTimeBetweenRuns = 24 * time.Hour // machines differ from day to day
)

// conditionsText describes how the conditions of the two measurements differ. apart means that the times differ
// clearly, which the conditions may explain.
func conditionsText(a, b comparedRun, apart bool) string {
	if a.Run.Machine == nil || b.Run.Machine == nil {
		return "The conditions of one of the runs are unknown."
	}
	disturbed, explain := disturbedSentence(a, b, apart), ""
	if apart {
		explain = ", which may explain part of the difference"
	}
	if differ := differenceTexts(a, b); len(differ) > 0 {
		return strings.TrimSpace("Conditions differ" + explain + ": " + strings.Join(differ, "; ") + ". " + disturbed)
	}
	if disturbed != "" {
		return disturbed
	}
	return fmt.Sprintf("Conditions are the same: the same %s, the same software%s.", a.Run.Device, clockToleranceText(*a.Run.Machine))
}

// disturbedSentence returns a sentence about runs that were disturbed, or "".
func disturbedSentence(a, b comparedRun, apart bool) string {
	ends := ": a quiet machine may show a difference."
	if apart {
		ends = ": the machine may explain the difference."
	}
	whyA, whyB := a.Run.DisturbedReason, b.Run.DisturbedReason
	switch {
	case whyA != "" && whyB != "":
		return fmt.Sprintf("Both runs were disturbed (%s: %s; %s: %s)%s", comparedName(a, b), whyA,
			comparedName(b, a), whyB, ends)
	case whyA != "":
		return fmt.Sprintf("%s was disturbed (%s)%s", comparedName(a, b), whyA, ends)
	case whyB != "":
		return fmt.Sprintf("%s was disturbed (%s)%s", comparedName(b, a), whyB, ends)
	}
	return ""
}

// differenceTexts lists how run b differs from run a, apart from the kernels, most important first.
func differenceTexts(a, b comparedRun) (list []string) {
	was, is := *a.Run.Machine, *b.Run.Machine
	add := func(name, from, to string) {
		if from != to {
			list = append(list, fmt.Sprintf("%s %s → %s", name, versionOrUnknown(from), versionOrUnknown(to)))
		}
	}
	add("task", a.Task.Title, b.Task.Title)
	if a.Task.ID == b.Task.ID {
		add("version of the task", strconv.Itoa(a.Version.Number), strconv.Itoa(b.Version.Number))
	}
	add("device", a.Run.Device, b.Run.Device)
	add("measured by", a.Run.Harness, b.Run.Harness)
	list = append(list, machineSoftware(was).ChangedComponents(machineSoftware(is))...)
	if a.Run.Device == b.Run.Device && was.UUIDHash != is.UUIDHash {
		list = append(list, fmt.Sprintf("another %s", a.Run.Device))
	}
	add("processor", was.DeviceName, is.DeviceName)
	for _, clock := range []struct{ name, key string }{{"SM clock", "sm_clock"}, {"memory clock", "memory_clock"}} {
		if from, to := was.GPUConditions[clock.key], is.GPUConditions[clock.key]; clocksDiffer(from, to) {
			add(clock.name, clockRangeOf(from), clockRangeOf(to))
		}
	}
	add("throttled by", was.GPUConditions["throttle_reasons"], is.GPUConditions["throttle_reasons"])
	if apart := b.Run.QueuedAt.Sub(a.Run.QueuedAt).Abs(); apart >= longTimeBetweenRuns {
		list = append(list, format.Plural(int(apart/longTimeBetweenRuns), "day", "days")+" between them")
	}
	return list
}

func machineSoftware(m job.Machine) epochs.Software {
	return epochs.Software{
		Driver: m.Driver, CUDA: m.CUDA, Compiler: m.CompilerVersion, Torch: m.Torch, Triton: m.Triton,
		Harness: m.HarnessDigest,
	}
}

func versionOrUnknown(text string) string {
	if text == "" {
		return "unknown"
	}
	return text
}

// clockRangeOf returns the part of a clock description before the first comma: "1200–1980 MHz" of "1200–1980 MHz, 1980
// at the start".
func clockRangeOf(seen string) string {
	text, _, _ := strings.Cut(seen, ",")
	return text
}

// clocksDiffer reports whether the lowest or highest sampled clock rates differ. A missing value counts as equal.
func clocksDiffer(a, b string) bool {
	lowA, highA := clockRangeEnds(a)
	lowB, highB := clockRangeEnds(b)
	return clockRatesDiffer(lowA, lowB) || clockRatesDiffer(highA, highB)
}

func clockRatesDiffer(a, b float64) bool {
	return a > 0 && b > 0 && math.Abs(a-b) > minClockDifference*max(a, b)
}

func clockRangeEnds(seen string) (low, high float64) {
	number, _, _ := strings.Cut(clockRangeOf(seen), " ")
	from, to, isRange := strings.Cut(number, "–")
	if !isRange {
		to = from
	}
	low, _ = strconv.ParseFloat(from, 64)
	high, _ = strconv.ParseFloat(to, 64)
	return low, high
}

func clockToleranceText(m job.Machine) string {
	if m.GPUConditions["sm_clock"] == "" {
		return ""
	}
	return ", clocks within 2 %"
}
