package submissions

import (
	"fmt"
	"strconv"

	"github.com/gofiber/fiber/v2"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/versus"
	"warpboard/models/db"
	"warpboard/views/charts"
	"warpboard/web/site"
	"warpboard/web/site/runs"
)

// CompareJSON responds with a comparison of two runs as JSON.
func (p *Submissions) CompareJSON(c *fiber.Ctx) error {
	a, b, err := p.comparedRuns(c)
	if err != nil {
		return err
	}
	index := charts.ReadQuery(queryValues(c)).Case
	var reports charts.CompareView
	if err := p.addReports(&reports, a, b, index); err != nil {
		return err
	}
	found := compareTimes(a, b)
	ownA, ownB := versus.ScoresOfBoth(a.Version.Definition.RankingBy, a.cases, b.cases)
	answer := client.Comparison{A: sideAnswer(a, ownA), B: sideAnswer(b, ownB), Ratio: ratioJSON(found.ScoreRatio), Cases: []client.ComparedCase{}, Case: index,
		Kernels: []any{}, MissingProfileReason: reports.NoProfileReason}
	for _, pair := range found.Cases {
		answer.Cases = append(answer.Cases, client.ComparedCase{
			Spec:  pair.Spec,
			A:     pair.ResultA,
			B:     pair.ResultB,
			Ratio: ratioJSON(pair.Ratio),
		})
	}
	for _, pair := range reports.Pairs {
		answer.Kernels = append(answer.Kernels, pair)
	}
	if reports.Explanation != nil {
		answer.Explanation = reports.Explanation
	}
	return c.JSON(answer)
}

// sideAnswer converts run r for the JSON of a comparison. own is the score of the run's own times, which the ratio is
// based on; a different score on the board is a separate field.
func sideAnswer(r comparedRun, own float64) client.ComparedRun {
	side := client.ComparedRun{
		Run: r.Run.ID, Submission: r.Submission.ID, User: r.Owner.Name, Device: r.Run.Device,
		Mode: string(r.Submission.Mode), ScoreNS: r.Run.ScoreNS,
	}
	if r.Run.ScoreNS != nil && !r.boardScoreIsOwn(own) {
		side.ScoreNS, side.BoardScoreNS, side.PooledRuns = &own, r.Run.ScoreNS, r.Run.PooledRunCount
	}
	return side
}

// ratioJSON returns B's time divided by A's, and the interval of this ratio if it is known. It returns nil without a
// ratio.
func ratioJSON(r versus.Ratio) *client.Ratio {
	if r.Value == 0 {
		return nil
	}
	out := &client.Ratio{Value: r.Value}
	if r.HasInterval() {
		apart := r.IsClear()
		out.Low, out.High, out.IsClear = &r.Low, &r.High, &apart
	}
	return out
}

// CompareCSV responds with every case and metric of both runs as CSV: part, section, name, unit, A, B. A value that was
// not measured is empty.
func (p *Submissions) CompareCSV(c *fiber.Ctx) error {
	a, b, err := p.comparedRuns(c)
	if err != nil {
		return err
	}
	var reports charts.CompareView
	if err := p.addReports(&reports, a, b, charts.ReadQuery(queryValues(c)).Case); err != nil {
		return err
	}
	rows := [][]string{{"part", "section", "name", "unit", "a", "b"}}
	for _, pair := range compareTimes(a, b).Cases {
		rows = append(rows, caseTimeRows(pair.Spec, pair.ResultA, pair.ResultB)...)
	}
	for _, pair := range reports.Pairs {
		kernel := fmt.Sprintf("%s / %s", pair.NameA, pair.NameB)
		for _, section := range pair.Sections {
			for _, d := range section.Rows {
				rows = append(rows, []string{kernel, section.Name, d.Label, metricUnit(d), baseUnitValue(d.ValueA),
					baseUnitValue(d.ValueB)})
			}
		}
	}
	return site.SendCSV(c, rows)
}

// caseTimeRows returns the CSV rows of one case: the mean times and, if a judge measured one of them, the clock rates.
func caseTimeRows(spec string, a, b *job.CaseResult) [][]string {
	row := func(name, unitName string, of func(job.CaseResult) string) []string {
		side := func(c *job.CaseResult) string {
			if c == nil || name != "mean" && !c.TimedByJudge() {
				return ""
			}
			return of(*c)
		}
		return []string{"times", name, spec, unitName, side(a), side(b)}
	}
	number := func(of func(job.CaseResult) float64) func(job.CaseResult) string {
		return func(c job.CaseResult) string { return strconv.FormatFloat(of(c), 'f', -1, 64) }
	}
	rows := [][]string{row("mean", "ns", func(c job.CaseResult) string {
		if !(c.Mean > 0) {
			return ""
		}
		return strconv.FormatFloat(c.Mean, 'f', -1, 64)
	})}
	if (a == nil || !a.TimedByJudge()) && (b == nil || !b.TimedByJudge()) {
		return rows
	}
	return append(rows,
		row("time", "ns", number(job.CaseResult.Time)),
		row("clock", "", func(c job.CaseResult) string { return string(c.ClockTimes.CountedClock) }),
		row("event", "ns", number(func(c job.CaseResult) float64 { return c.ClockTimes.EventTime })),
		row("wall", "ns", number(func(c job.CaseResult) float64 { return c.ClockTimes.WallTime })),
		row("snapshot", "ns", number(func(c job.CaseResult) float64 { return c.ClockTimes.SnapshotTime })),
		row("late", "", func(c job.CaseResult) string { return strconv.Itoa(c.ClockTimes.LateCalls) }))
}

// baseUnitValue returns the value of a metric in its base unit, so that the values of both runs are comparable.
func baseUnitValue(m ncu.Metric) string {
	value, ok := m.BaseValue()
	if !ok {
		return ""
	}
	return strconv.FormatFloat(value, 'f', -1, 64)
}

func metricUnit(d ncu.MetricDiff) string {
	if d.ValueA.Measured {
		return d.ValueA.BaseUnit()
	}
	return d.ValueB.BaseUnit()
}

// Trace responds with a run's timeline in the Trace Event format.
func (p *Submissions) Trace(c *fiber.Ctx) error {
	id, err := site.IDParam(c, "id")
	if err != nil {
		return err
	}
	seen, err := p.runs.RunByID(c.UserContext(), site.Actor(c), id)
	if err != nil {
		return err
	}
	left, err := p.runs.StagesAndProfileOf(c.UserContext(), seen)
	if err != nil {
		return err
	}
	data, err := charts.TraceJSON(runs.TimelineOf(seen.Run, left[id]))
	if err != nil {
		return err
	}
	c.Set(fiber.HeaderContentType, fiber.MIMEApplicationJSON)
	return c.Send(data)
}

// ProfileFile responds with ncu's report file, which contains the source and the machine code.
func (p *Submissions) ProfileFile(c *fiber.Ctx) error {
	seen, err := p.runs.LoadRun(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", "The report holds the program itself: "+runs.SourceHiddenReason(seen.Task)+".")
	}
	profile, err := p.runs.ProfileOf(c.UserContext(), seen)
	if err != nil {
		return err
	}
	index := profile.CaseIndexOrFirst(charts.ReadQuery(queryValues(c)).Case)
	written, ok := profile.ReportFile(index)
	if !ok {
		return db.Errorf(db.NotFound, "There is no report file of this case.")
	}
	c.Vary(fiber.HeaderAcceptEncoding)
	file, err := p.runs.OpenArtifact(written.Artifact, c.Request().Header.HasAcceptEncoding("gzip"))
	if err != nil {
		return err
	}
	if file.Gzip {
		c.Set(fiber.HeaderContentEncoding, "gzip")
	}
	name := fmt.Sprintf("run-%d-case-%d.ncu-rep", seen.Run.ID, index)
	if written.FirstCase < written.LastCase {
		name = fmt.Sprintf("run-%d-cases-%d-%d.ncu-rep", seen.Run.ID, written.FirstCase, written.LastCase)
	}
	c.Attachment(name)
	c.Set(fiber.HeaderContentType, fiber.MIMEOctetStream)
	return c.SendStream(file, file.Size)
}

// ProfilePTX responds with the PTX of the requested kernel, or of the kernel with the longest total time.
func (p *Submissions) ProfilePTX(c *fiber.Ctx) error {
	seen, index, report, err := p.visibleReport(c)
	if err != nil {
		return err
	}
	if !seen.MaySeeSource {
		return site.Forbidden("source", "PTX shows the program itself: "+runs.SourceHiddenReason(seen.Task)+".")
	}
	kernel := charts.ProfileView{Query: charts.ReadQuery(queryValues(c)), Report: report}.Kernel()
	if kernel == nil || kernel.Source == nil || kernel.Source.PTX == "" {
		return db.Errorf(db.NotFound, "There is no PTX of this kernel.")
	}
	c.Attachment(fmt.Sprintf("run-%d-case-%d-kernel-%d.ptx", seen.Run.ID, index, kernel.ID))
	c.Set(fiber.HeaderContentType, fiber.MIMETextPlainCharsetUTF8)
	return c.SendString(kernel.Source.PTX)
}
