package sanitizing

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox"
)

// toolLog is a tool's parsed log. The submission may have forged it.
type toolLog struct {
	findings        []job.Finding // errors first, merged by place; at most job.MaxFindings
	errorCount      int           // number of places with an error, including those without a finding
	unprintedErrors int           // errors that the tool counted but did not print
	hasSummary      bool          // the log has a summary
	toolProblem     string        // message about the tool itself, for example that it could not start
}

// coversWholeRun reports whether the tool checked the whole run. A tool that does not support the device prints a
// warning and runs the program without checks.
func (l toolLog) coversWholeRun() bool {
	return l.hasSummary && (l.toolProblem == "" || strings.HasPrefix(l.toolProblem, "Warning: "))
}

const logLinePrefix = "========="

// harnessGateKernel is the name of the harness's own kernel, which waits for a call and reads memory written by another
// process.
const harnessGateKernel = "warpboard_open_gate"

var (
	// Examples: "ERROR SUMMARY: 29 errors"; "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)".
	summaryPattern      = regexp.MustCompile(`^(?:ERROR SUMMARY: (\d+) errors?$|RACECHECK SUMMARY: \d+ hazards? displayed \((\d+) errors?)`)
	unprintedPattern    = regexp.MustCompile(`SUMMARY: (\d+) (?:errors?|hazards?) w(?:as|ere) not printed`)
	racePattern         = regexp.MustCompile(`^(Error|Warning): Race reported between (\w+) access (at .+)$`)
	secondAccessPattern = regexp.MustCompile(`^and (\w+) access (at .+?)(?: \[(\d+) hazards?\])?$`)
	// Examples: "at oob(float *, int)+0x90 in bad.cu:6", also after "Device Frame: "; until CUDA 11.8 "at 0x90 in
	// bad.cu:6:oob(float *, int)".
	stackFramePattern = regexp.MustCompile(`^(?:at |Device Frame: ?)(.+?)\+0x[0-9a-f]+(?: in (.+):(\d+))?$`)
	oldFramePattern   = regexp.MustCompile(`^(?:at |Device Frame: ?)0x[0-9a-f]+ in (?:(.+):(\d+):)?(.+)$`)
	threadPattern     = regexp.MustCompile(`^by thread \(([\d,]+)\) in block \(([\d,]+)\)`)
	addressPattern    = regexp.MustCompile(` (?:at |to )?0x[0-9a-f]+`)
)

// readLog parses the log of a tool. ours has the names of the submission's files.
func readLog(tool string, text []byte, ours []string) (l toolLog) {
	var one *logRecord
	counted, ignored := 0, 0 // numbers of errors
	end := func() {
		if one != nil && one.isOfHarness() {
			ignored++
		} else if one != nil {
			l.addFinding(one.finding(ours))
		}
		one = nil
	}
	for line := range strings.Lines(sandbox.CleanOutput(text)) {
		text, ok := strings.CutPrefix(strings.TrimRight(line, "\r\n"), logLinePrefix)
		if !ok {
			continue
		}
		if strings.HasPrefix(text, "  ") && one != nil {
			one.parseDetail(strings.TrimSpace(text))
			continue
		}
		end()
		text = strings.TrimSpace(text)
		if m := unprintedPattern.FindStringSubmatch(text); m != nil {
			l.unprintedErrors += parseNumber(m[1])
		} else if m := summaryPattern.FindStringSubmatch(text); m != nil {
			counted, l.hasSummary = counted+parseNumber(m[1]+m[2]), true
		} else if strings.HasPrefix(text, "Program hit ") {
			ignored++
		} else if isToolProblem(text) {
			l.toolProblem = text
		} else if text != "" {
			one = newLogRecord(tool, text)
		}
	}
	end()
	if l.errorCount == 0 && counted > ignored {
		// Errors that cannot be parsed still count.
		l.addFinding(job.Finding{Tool: tool, Message: "Errors that this site cannot read",
			Occurrences: counted - ignored}, true)
	}
	slices.SortStableFunc(l.findings, func(a, b job.Finding) int { return warningRank(a) - warningRank(b) })
	return l
}

// isToolProblem reports whether a line is about the tool instead of a kernel.
func isToolProblem(text string) bool {
	return strings.HasPrefix(text, "Internal ") ||
		(strings.HasPrefix(text, "Error: ") || strings.HasPrefix(text, "Warning: ")) && !racePattern.MatchString(text)
}

// addFinding adds a finding, unless real is false, and merges it with others at the same location.
func (l *toolLog) addFinding(f job.Finding, real bool) {
	if !real {
		return
	}
	same := func(g job.Finding) bool {
		return g.IsWarning == f.IsWarning && g.Message == f.Message && g.Kernel == f.Kernel && g.File == f.File && g.Line == f.Line
	}
	if i := slices.IndexFunc(l.findings, same); i >= 0 {
		l.findings[i].Occurrences = min(l.findings[i].Occurrences+f.Occurrences, maxLogNumber)
		return
	}
	if !f.IsWarning {
		l.errorCount++
	}
	if len(l.findings) < job.MaxFindings {
		l.findings = append(l.findings, f)
	}
}

// logRecord is a finding that is being parsed.
type logRecord struct {
	partialFinding job.Finding
	frames         []stackFrame // innermost first
	otherAccesses  []string
}

// hostCallPrefix is the prefix of a record about a host API call, such as a copy.
const hostCallPrefix = "Host API "

// isOfHarness reports whether the harness caused the finding: its gate kernel, or copies of inputs from memory written
// by another process, which initcheck cannot observe. Other copies of uninitialized memory look the same.
func (r *logRecord) isOfHarness() bool {
	return r.partialFinding.Tool == "initcheck" && strings.HasPrefix(r.partialFinding.Message, hostCallPrefix) ||
		slices.ContainsFunc(r.frames, func(f stackFrame) bool { return strings.Contains(f.kernel, harnessGateKernel) })
}

type stackFrame struct {
	kernel, file string
	line         int
}

func newLogRecord(tool, text string) *logRecord {
	r := &logRecord{partialFinding: job.Finding{Tool: tool, Message: text, Occurrences: 1}}
	if m := racePattern.FindStringSubmatch(text); m != nil {
		r.partialFinding.IsWarning, r.partialFinding.Message = m[1] == "Warning", "Race between a "+strings.ToLower(m[2])
		r.parseDetail(m[3])
	}
	return r
}

// parseDetail parses a line that follows the first line of the record.
func (r *logRecord) parseDetail(text string) {
	if f, ok := parseStackFrame(text); ok {
		r.frames = append(r.frames, f)
	} else if m := secondAccessPattern.FindStringSubmatch(text); m != nil {
		r.partialFinding.Message += " and a " + strings.ToLower(m[1])
		if f, ok := parseStackFrame(m[2]); ok && f.line > 0 {
			r.partialFinding.Message += " at " + f.file + ":" + strconv.Itoa(f.line)
		}
		r.partialFinding.Occurrences = max(parseNumber(m[3]), 1)
	} else if m := threadPattern.FindStringSubmatch(text); m != nil {
		r.partialFinding.Thread, r.partialFinding.Block = m[1], m[2]
	} else if strings.HasPrefix(text, "Access") || strings.HasPrefix(text, "Address") || strings.HasPrefix(text, "and is ") || strings.Contains(text, " on access by ") {
		r.otherAccesses = append(r.otherAccesses, addressPattern.ReplaceAllString(text, ""))
	}
}

// finding converts the record to a finding at the innermost frame in the submission. ok is false if the record is about
// neither a kernel nor a host call.
func (r *logRecord) finding(ours []string) (job.Finding, bool) {
	f := r.partialFinding
	if len(r.frames) > 0 {
		at := max(slices.IndexFunc(r.frames, func(f stackFrame) bool { return slices.Contains(ours, f.file) }), 0)
		f.Kernel, f.File, f.Line = r.frames[len(r.frames)-1].kernel, r.frames[at].file, r.frames[at].line
	} else if !strings.HasPrefix(f.Message, hostCallPrefix) {
		return f, false
	} else {
		f.Message = addressPattern.ReplaceAllString(f.Message, "")
	}
	if f.Detail = strings.Join(r.otherAccesses, " "); f.Detail == "Address" {
		f.Detail = ""
	}
	for _, text := range []*string{&f.Message, &f.Detail, &f.Kernel, &f.File, &f.Block, &f.Thread} {
		*text = clipText(*text, job.MaxFindingText)
	}
	return f, true
}

func parseStackFrame(text string) (f stackFrame, ok bool) {
	if m := stackFramePattern.FindStringSubmatch(text); m != nil {
		return stackFrame{m[1], fileBaseName(m[2]), parseNumber(m[3])}, true
	}
	if m := oldFramePattern.FindStringSubmatch(text); m != nil {
		return stackFrame{m[3], fileBaseName(m[1]), parseNumber(m[2])}, true
	}
	return f, false
}

func fileBaseName(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}

// maxLogNumber limits the numbers in a log.
const maxLogNumber = 1_000_000_000

func parseNumber(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil && digits != "" {
		return maxLogNumber
	}
	return min(n, maxLogNumber)
}

// clipText shortens a text to at most limit bytes.
func clipText(text string, limit int) string {
	limit -= len("…")
	if len(text) <= limit {
		return text
	}
	return strings.ToValidUTF8(text[:limit], "") + "…"
}

func warningRank(f job.Finding) int {
	if f.IsWarning {
		return 1
	}
	return 0
}
