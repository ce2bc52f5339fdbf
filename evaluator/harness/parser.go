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
	maxExtraKeys  = 256
	maxExtraBytes = 4 << 20
	maxPipeBytes  = 64 << 20
)

// CaseFunc receives a case when it is complete, and again if a later line changes it. total is the number of cases that
// the program announced, or 0.
type CaseFunc func(c job.CaseResult, total int)

// maxPipeLine limits one line of the result pipe, in bytes.
const maxPipeLine = 1 << 20

// Parser parses the "key: value" lines of a result pipe while the program writes them. Keys may come in any order;
// unknown keys are stored in ExtraKeys, where the last value counts; invalid UTF-8 is replaced. For a verdict or a
// score the first value counts, and nothing after the verdict; StageVerdict reports a violation. It is not safe for
// concurrent use.
type Parser struct {
	lineSplitter     LineSplitter
	onCase           CaseFunc
	bytesParsed      int             // number of bytes parsed so far
	inconsistency    string          // reason to refuse the report, a sentence; empty if there is none
	processReport                    // report of the current process
	expectsProcesses bool            // a judge reports several fresh processes, one after another
	processCount     int             // number of completely reported processes
	processReports   []processReport // reports of the completed processes, except dropped ones
	announcedCases   int
	reportedVerdict  string
	openCase         int // index of the case being reported, or -1
	changed          bool
	extraKeys        map[string]string
	extraBytes       int
}

// processReport is the report about one process of the submission.
type processReport struct {
	lineHashes map[string]string // hashes of values, by key
	cases      map[int]*job.CaseResult
}

func newProcessReport() processReport {
	return processReport{lineHashes: map[string]string{}, cases: map[int]*job.CaseResult{}}
}

// sortedCases returns the cases so far, by index.
func (s processReport) sortedCases() []job.CaseResult {
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
	p := &Parser{onCase: onCase, openCase: -1, processReport: newProcessReport(), extraKeys: map[string]string{}}
	p.lineSplitter = LineSplitter{MaxBytes: maxPipeLine, OnLine: p.parseLine}
	return p
}

// Write parses the next piece of the pipe. It never fails.
func (p *Parser) Write(b []byte) (int, error) {
	if p.bytesParsed += len(b); p.bytesParsed > maxPipeBytes {
		p.rejectReport("The program reported more than a result can hold.")
		return len(b), nil
	}
	p.lineSplitter.Feed(b)
	return len(b), nil
}

// Close ends the report. It parses a last line without a line break, and passes a complete case to the CaseFunc.
func (p *Parser) Close() {
	p.lineSplitter.Flush()
	p.finishOpenCase()
}

// Verdict returns the verdict in the report: "pass", "fail", or "" if there is none.
func (p *Parser) Verdict() string { return p.reportedVerdict }

// AnnouncedCases returns the number of cases that the program announced, or 0.
func (p *Parser) AnnouncedCases() int { return p.announcedCases }

// Cases returns the cases so far, sorted by index. A case without a status is incomplete. For several processes it
// merges their reports, or returns that of a process that did not finish.
func (p *Parser) Cases() []job.CaseResult {
	if len(p.processReports) == 0 || len(p.cases) > 0 {
		return p.sortedCases()
	}
	return mergeProcesses(p.processReports)
}

// ExtraKeys returns the keys that have no field in a CaseResult.
func (p *Parser) ExtraKeys() map[string]string { return maps.Clone(p.extraKeys) }

func (p *Parser) parseLine(raw []byte) {
	key, value, found := strings.Cut(sandbox.CleanOutput(raw), ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	if !found || key == "" {
		return
	}
	if index, field, ok := splitCaseKey(key); ok {
		p.parseCaseLine(index, field, value, key)
		return
	}
	p.finishOpenCase()
	switch key {
	case "check":
		p.parseVerdict(key, value)
	case "process":
		p.endProcess(key, value)
	case "test-count", "benchmark-count":
		if n, err := strconv.Atoi(value); p.recordLine(key, value) && err == nil && n >= 0 && n <= maxCases {
			p.announcedCases = n
		}
	default:
		p.storeExtraKey(key, value)
	}
}

// splitCaseKey splits "test.3.status" and "benchmark.3.mean" into index and field.
func splitCaseKey(key string) (index int, field string, ok bool) {
	kind, rest, _ := strings.Cut(key, ".")
	number, field, ok := strings.Cut(rest, ".")
	if !ok || (kind != "test" && kind != "benchmark") {
		return 0, "", false
	}
	index, err := strconv.Atoi(number)
	return index, field, err == nil && index >= 0 && index < maxCases
}

func (p *Parser) parseCaseLine(index int, field, value, key string) {
	if !p.recordLine(key, value) {
		return
	}
	if index != p.openCase {
		p.finishOpenCase()
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
		p.storeExtraKey(key, value)
	}
}

// finishOpenCase passes the current case to the CaseFunc if it is complete. Call it when the next line does not belong
// to that case.
func (p *Parser) finishOpenCase() {
	if p.openCase < 0 {
		return
	}
	c := p.cases[p.openCase]
	if c.Status == "" && c.Runs > 0 && c.Mean > 0 {
		c.Status = job.StatusPass // KernelBot's programs report a status of timed cases only for failures
	}
	if c.Status != "" && p.changed {
		p.onCase(*c, p.announcedCases)
	}
	p.openCase, p.changed = -1, false
}

func (p *Parser) storeExtraKey(key, value string) {
	size := len(key) + len(value)
	old, again := p.extraKeys[key]
	if again {
		size -= len(key) + len(old)
	} else if len(p.extraKeys) == maxExtraKeys {
		return
	}
	if p.extraBytes+size > maxExtraBytes {
		return
	}
	p.extraKeys[key] = value
	p.extraBytes += size
}

// setField stores one field of a case. It returns false if CaseResult has no such field.
func setField(c *job.CaseResult, field, value string) bool {
	times := map[string]*float64{"mean": &c.Mean, "best": &c.Best, "worst": &c.Worst, "median": &c.Median, "p95": &c.P95}
	if target, ok := times[field]; ok {
		*target = parseNumber(value, isValidTime)
		return true
	}
	if setClock(&c.ClockTimes, field, value) {
		return true
	}
	if name, ok := strings.CutPrefix(field, "numerics."); ok {
		return setNumericError(c, name, value)
	}
	switch field {
	case "std":
		c.StandardDeviation = parseNumber(value, isValidDeviation)
	case "err":
		c.StandardError = parseNumber(value, isValidDeviation)
	case "spec":
		c.SpecLine = value
	case "status":
		c.Status = parseStatus(value)
	case "message", "error":
		c.Message = strings.ReplaceAll(value, `\n`, "\n")
	case "runs":
		c.Runs, _ = strconv.Atoi(value)
	case "setup":
		c.SetupNS = parseNumber(value, isValidDeviation)
	case "times":
		c.Times = parseTimes(value)
	default:
		return false
	}
	return true
}

// setClock stores one clock field of a case that a judge timed. It drops the times of single calls by each clock: Times
// has those that count, and three more lists per case would make the result too large.
func setClock(c *job.ClockTimes, field, value string) bool {
	switch field {
	case "clock":
		c.CountedClock = parseClock(value)
	case "event":
		c.EventTime = parseNumber(value, isValidDeviation)
	case "wall":
		c.WallTime = parseNumber(value, isValidDifference)
	case "snapshot":
		c.SnapshotTime = parseNumber(value, isValidDifference)
	case "tolerance":
		c.WallTolerance = parseNumber(value, isValidDeviation)
	case "handover":
		c.EmptyCallTime = parseNumber(value, isValidDeviation)
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

func parseClock(value string) job.Clock {
	switch c := job.Clock(value); c {
	case job.ClockEvent, job.ClockWall, job.ClockSnapshot:
		return c
	}
	return unknownClock
}

func parseStatus(value string) job.Status {
	if value == "pass" {
		return job.StatusPass
	}
	return job.StatusFail
}

// parseNumber parses a time or a deviation. It returns 0 for an invalid one, which no score accepts as a time.
func parseNumber(value string, valid func(float64) bool) float64 {
	f, err := strconv.ParseFloat(value, 64)
	if err != nil || !valid(f) {
		return 0
	}
	return f
}

func parseTimes(value string) []float64 {
	var out []float64
	for part := range strings.SplitSeq(value, ",") {
		out = append(out, parseNumber(strings.TrimSpace(part), isValidTime))
	}
	return out
}
