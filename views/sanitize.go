package views

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"warpboard/evaluator/job"
	"warpboard/views/format"
)

// sanitizerTools describes what each tool of compute-sanitizer looks for.
var sanitizerTools = map[string]string{
	"memcheck":  "Out-of-bounds and misaligned accesses",
	"synccheck": "Barriers that not all threads reach",
	"initcheck": "Reads of uninitialized global memory",
	"racecheck": "Races in shared memory",
}

// sanitizerToolText describes the result of a tool of compute-sanitizer.
func sanitizerToolText(c job.CaseResult, found []job.Finding) string {
	switch {
	case c.Status == job.StatusFail:
		return "errors"
	case c.Status != job.StatusPass:
		return statusText(c.Status)
	case hasFindingsOf(c, found):
		return "warnings"
	}
	return "clean"
}

// hasFindingsOf reports whether found has findings of the tool in case c.
func hasFindingsOf(c job.CaseResult, found []job.Finding) bool {
	return slices.ContainsFunc(found, func(f job.Finding) bool { return f.Tool == c.SpecLine })
}

// sanitizerToolMessage returns the message of a tool that is not one of its findings.
func sanitizerToolMessage(c job.CaseResult, found []job.Finding) string {
	if hasFindingsOf(c, found) && (c.Status == job.StatusFail || strings.HasPrefix(c.Message, "warning: ")) {
		return ""
	}
	return c.Message
}

// toolsHeading returns the heading of the table of tools, which names those without findings.
func (s StageView) toolsHeading() string {
	clean, total := 0, max(s.TotalCases, len(s.Result.Cases))
	for _, c := range s.Result.Cases {
		if c.Status == job.StatusPass {
			clean++
		}
	}
	if s.IsRunning {
		return fmt.Sprintf("%d of %d tools so far", len(s.Result.Cases), total)
	}
	return fmt.Sprintf("%d of %d tools found no error", clean, total)
}

// FindingRemarks returns findings with a line of the submission as remarks, those on the main file first, sorted by
// line.
func FindingRemarks(findings []job.Finding, of SourceNames) (remarks []Remark) {
	for _, f := range findings {
		if r, ok := findingRemark(f, of); ok {
			remarks = append(remarks, r)
		}
	}
	slices.SortStableFunc(remarks, func(a, b Remark) int { return cmp.Or(cmp.Compare(a.File, b.File), a.Line-b.Line) })
	return remarks
}

// findingRemark returns a finding as a remark; ok is false if it has no line of the submission.
func findingRemark(f job.Finding, of SourceNames) (r Remark, ok bool) {
	name, ours := of.submittedFileName(f.File)
	text := f.Tool + ": " + f.Message
	if f.Thread != "" {
		text += fmt.Sprintf(" by thread (%s) of block (%s)", f.Thread, f.Block)
	}
	if f.Occurrences > 1 {
		text += ", " + format.Count(int64(f.Occurrences)) + " times"
	}
	return Remark{Line: f.Line, IsError: !f.IsWarning, Text: text, File: name}, ours && f.Line > 0
}

// sanitizerRemarks returns compute-sanitizer's findings as remarks.
func (r RunCard) sanitizerRemarks() []Remark {
	for _, stage := range r.Stages {
		if remarks := FindingRemarks(stage.Result.Findings, r.SourceNames); len(remarks) > 0 {
			return remarks[:min(len(remarks), maxListedRemarks)]
		}
	}
	return nil
}
