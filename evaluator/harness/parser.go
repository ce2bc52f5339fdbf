package harness

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// Limits for data from a result pipe.
const (
	maxCases      = 4096
	maxExtra      = 256
	maxExtraBytes = 4 << 20
	maxPipe       = 64 << 20
)

// CaseFunc receives a case when it is complete, and again if a later line changes it. total is the number of cases that
// the program announced, or 0.
type CaseFunc func(c job.CaseResult, total int)

// maxLine limits one line of the result pipe, in bytes.
const maxLine = 1 << 20

// Parser parses the "key: value" lines of a result pipe while the program writes them. Keys may come in any order;
// unknown keys are stored in Extra, where the last value counts; invalid UTF-8 is replaced. For a verdict or a score
// the first value counts, and nothing after the verdict; Judge reports a violation. It is not safe for concurrent use.
type Parser struct {
	lines            Lines
	onCase           CaseFunc
	bytesParsed      int            // so far
	inconsistency    string         // reason to refuse the report, a sentence; empty if there is none
	stageSection                    // of the current process
	severalProcesses bool           // a judge reports several fresh processes, one after another
	processes        int            // number of reported processes
	reported         []stageSection // of the reported processes, except dropped ones
	total            int
	check            string
	openCase         int // index of the case being reported, or -1
	changed          bool
	extra            map[string]string
	extraBytes       int
}

// stageSection is the report about one process of the submission.
type stageSection struct {
	seen  map[string]string // hashes of values, by key
	cases map[int]*job.CaseResult
}

func newSection() stageSection {
	return stageSection{seen: map[string]string{}, cases: map[int]*job.CaseResult{}}
}

// sortedCases returns the cases so far, by index.
func (s stageSection) sortedCases() []job.CaseResult {
	out := make([]job.CaseResult, 0, len(s.cases))
	for _, index := range slices.Sorted(maps.Keys(s.cases)) {
		out = append(out, *s.cases[index])
	}
	return out
}

// NewParser returns a parser for the result pipe of one stage. onCase may be nil.
func NewParser(onCase CaseFunc) *Parser {
	if onCase == nil {
		onCase = func(job.CaseResult, int) {}
	}
	p := &Parser{onCase: onCase, openCase: -1, stageSection: newSection(), extra: map[string]string{}}
	p.lines = Lines{MaxBytes: maxLine, OnLine: p.line}
	return p
}

// Write parses the next piece of the pipe. It never fails.
func (p *Parser) Write(b []byte) (int, error) {
	if p.bytesParsed += len(b); p.bytesParsed > maxPipe {
		p.rejectReport("The program reported more than a result can hold.")
		return len(b), nil
	}
	p.lines.Feed(b)
	return len(b), nil
}

// Close ends the report. It parses a last line without a line break, and passes a complete case to the CaseFunc.
func (p *Parser) Close() {
	p.lines.Flush()
	p.finishOpen()
}

// Check returns the verdict in the report: "pass", "fail", or "" if there is none.
func (p *Parser) Check() string { return p.check }

// Total returns the number of cases that the program announced, or 0.
func (p *Parser) Total() int { return p.total }

// Cases returns the cases so far, sorted by index. A case without a status is incomplete. For several processes it
// merges their reports, or returns that of a process that did not finish.
func (p *Parser) Cases() []job.CaseResult {
	if len(p.reported) == 0 || len(p.cases) > 0 {
		return p.sortedCases()
	}
	return mergeProcesses(p.reported)
}

// Extra returns the keys that have no field in a CaseResult.
func (p *Parser) Extra() map[string]string { return maps.Clone(p.extra) }

func (p *Parser) line(raw []byte) {
	key, value, found := strings.Cut(sandbox.Text(raw), ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found || key == "" {
		return
	}
	if index, field, ok := caseKey(key); ok {
		p.caseLine(index, field, value, key)
		return
	}
	p.finishOpen()
	switch key {
	case "check":
		p.verdict(key, value)
	case "process":
		p.endProcess(key, value)
	case "test-count", "benchmark-count":
		if n, err := strconv.Atoi(value); p.record(key, value) && err == nil && n >= 0 && n <= maxCases {
			p.total = n
		}
	default:
		p.keepExtra(key, value)
	}
}

// caseKey splits "test.3.status" and "benchmark.3.mean" into index and field.
func caseKey(key string) (index int, field string, ok bool) {
	kind, rest, _ := strings.Cut(key, ".")
	number, field, ok := strings.Cut(rest, ".")
	if !ok || (kind != "test" && kind != "benchmark") {
		return 0, "", false
	}
	index, err := strconv.Atoi(number)
	return index, field, err == nil && index >= 0 && index < maxCases
}

func (p *Parser) caseLine(index int, field, value, key string) {
	if !p.record(key, value) {
		return
	}
	if index != p.openCase {
		p.finishOpen()
		p.openCase = index
	}
	c := p.cases[index]
	if c == nil {
		c = &job.CaseResult{Index: index}
		p.cases[index] = c
	}
	if setField(c, field, value) {
		p.changed = true
	} else {
		p.keepExtra(key, value)
	}
}

// finishOpen passes the current case to the CaseFunc if it is complete. Call it when the next line does not belong to
// that case.
func (p *Parser) finishOpen() {
	if p.openCase < 0 {
		return
	}
	c := p.cases[p.openCase]
	if c.Status == "" && c.Runs > 0 && c.Mean > 0 {
		c.Status = job.StatusPass // KernelBot's programs report a status of timed cases only for failures
	}
	if c.Status != "" && p.changed {
		p.onCase(*c, p.total)
	}
	p.openCase, p.changed = -1, false
}

func (p *Parser) keepExtra(key, value string) {
	size := len(key) + len(value)
	old, again := p.extra[key]
	if again {
		size -= len(key) + len(old)
	} else if len(p.extra) == maxExtra {
		return
	}
	if p.extraBytes+size > maxExtraBytes {
		return
	}
	p.extra[key] = value
	p.extraBytes += size
}

// setField stores one field of a case. It returns false if CaseResult has no such field.
func setField(c *job.CaseResult, field, value string) bool {
	times := map[string]*float64{"mean": &c.Mean, "best": &c.Best, "worst": &c.Worst, "median": &c.Median, "p95": &c.P95}
	if target, ok := times[field]; ok {
		*target = number(value, isTime)
		return true
	}
	if setClock(&c.Clocks, field, value) {
		return true
	}
	if name, ok := strings.CutPrefix(field, "numerics."); ok {
		return setNumerics(c, name, value)
	}
	switch field {
	case "std":
		c.StandardDeviation = number(value, isSpread)
	case "err":
		c.StandardError = number(value, isSpread)
	case "spec":
		c.Spec = value
	case "status":
		c.Status = status(value)
	case "message", "error":
		c.Message = strings.ReplaceAll(value, `\n`, "\n")
	case "runs":
		c.Runs, _ = strconv.Atoi(value)
	case "setup":
		c.SetupNS = number(value, isSpread)
	case "times":
		c.Times = timeList(value)
	default:
		return false
	}
	return true
}

// setClock stores one clock field of a case that a judge timed. It drops the times of single calls by each clock: Times
// has those that count, and three more lists per case would make the result too large.
func setClock(c *job.Clocks, field, value string) bool {
	switch field {
	case "clock":
		c.Counted = clock(value)
	case "event":
		c.Event = number(value, isSpread)
	case "wall":
		c.WallTime = number(value, isDifference)
	case "snapshot":
		c.Snapshot = number(value, isDifference)
	case "tolerance":
		c.WallTolerance = number(value, isSpread)
	case "handover":
		c.EmptyCallTime = number(value, isSpread)
	case "late":
		c.LateCalls, _ = strconv.Atoi(value)
	case "events", "walls", "snapshots", "prepared", "switched":
	default:
		return false
	}
	return true
}

// unknownClock replaces unknown names of clocks. A report that contains it is refused.
const unknownClock job.Clock = "unknown"

func clock(value string) job.Clock {
	switch c := job.Clock(value); c {
	case job.ClockEvent, job.ClockWall, job.ClockSnapshot:
		return c
	}
	return unknownClock
}

func status(value string) job.Status {
	if value == "pass" {
		return job.StatusPass
	}
	return job.StatusFail
}

// number parses a time or a deviation. It returns 0 for an invalid one, which no score accepts as a time.
func number(value string, valid func(float64) bool) float64 {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !valid(f) {
		return 0
	}
	return f
}

func timeList(value string) []float64 {
	var out []float64
	for part := range strings.SplitSeq(value, ",") {
		out = append(out, number(strings.TrimSpace(part), isTime))
	}
	return out
}
