package changes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"warpboard/tasks"
)

// Change is one difference between two versions of a task.
type Change struct {
	Key          string // for example "benchmarks", "files.reference.py", or "templates.CUDA"
	Old          string // comparable text; empty if it did not exist
	New          string // comparable text; empty if it was removed
	BreaksScores bool   // scores before and after are not comparable
}

// ChangesBetween returns the changes from old to new, in the order of the keys in task.yml. A change of something timed
// (files, language, build, benchmarks) or of the scoring rule makes scores incomparable; a change of tests, limits,
// texts, templates, baselines, or devices does not.
func ChangesBetween(old, new *tasks.Bundle) []Change {
	a, b := old.Definition, new.Definition
	var out []Change
	differ := func(key string, old, new any, breaks bool) {
		if x, y := comparableJSON(old), comparableJSON(new); !bytes.Equal(x, y) {
			out = append(out, Change{Key: key, Old: truncate(x), New: truncate(y), BreaksScores: breaks})
		}
	}
	differ("form", a.Protocol, b.Protocol, true)
	differ("lang", a.Lang, b.Lang, true)
	differ("title", a.Title, b.Title, false)
	differ("description", a.Description, b.Description, false)
	differ("tags", a.Tags, b.Tags, false)
	differ("problem", a.ProblemGroup, b.ProblemGroup, false)
	out = append(out, diffFiles("files", programFiles(old), programFiles(new), true)...)
	differ("config", a.Config, b.Config, true)
	differ("libraries", a.Libraries, b.Libraries, true)
	out = append(out, diffFiles("templates", templateFiles(old), templateFiles(new), false)...)
	out = append(out, diffFiles("baselines", baselineFiles(old), baselineFiles(new), false)...)
	differ("submission_files", a.SubmissionFiles, b.SubmissionFiles, false)
	differ("tolerance", a.Tolerance, b.Tolerance, false)
	differ("setup", a.AllowSetup, b.AllowSetup, true)
	differ("tests", casesText(a.Tests), casesText(b.Tests), false)
	differ("benchmarks", casesText(a.Benchmarks), casesText(b.Benchmarks), true)
	differ("test_timeout", a.Timeouts.Test.Seconds(), b.Timeouts.Test.Seconds(), false)
	differ("benchmark_timeout", a.Timeouts.Benchmark.Seconds(), b.Timeouts.Benchmark.Seconds(), false)
	differ("ranked_timeout", a.Timeouts.Ranked.Seconds(), b.Timeouts.Ranked.Seconds(), false)
	differ("ranked_budget", a.RankedBudget.Seconds(), b.RankedBudget.Seconds(), false)
	differ("memory_limit", a.MemoryLimit>>20, b.MemoryLimit>>20, false)
	differ("ranking_by", a.RankingBy, b.RankingBy, true)
	differ("seed", a.Seed, b.Seed, true)
	differ("multi_gpu", a.MultiGPU, b.MultiGPU, true)
	differ("harness", harnessName(a), harnessName(b), true)
	differ("gpus", a.GPUs, b.GPUs, false)
	differ("require", a.RequiredPackages, b.RequiredPackages, true)
	differ("roofline", a.Roofline, b.Roofline, false)
	differ("profile", !a.DisableProfile, !b.DisableProfile, false)
	differ("sanitize", a.RequiresCleanSanitizerRun, b.RequiresCleanSanitizerRun, false)
	differ("library", a.RefuseLibraryKernels, b.RefuseLibraryKernels, false)
	differ("validation", a.Validation, b.Validation, false)
	out = append(out, diffFiles("validation", validationFile(old), validationFile(new), false)...)
	if len(out) == 0 { // report a change of the text of task.yml only if no key has changed
		differ(tasks.TaskFile, string(old.Files[tasks.TaskFile]), string(new.Files[tasks.TaskFile]), false)
	}
	return out
}

// TextsByKey returns the description, files, and templates of a task by their keys in ChangesBetween.
func TextsByKey(b *tasks.Bundle) map[string]string {
	texts := map[string]string{"description": b.Definition.Description, tasks.TaskFile: string(b.Files[tasks.TaskFile])}
	for _, f := range b.Definition.Files {
		if !f.IsSubmission() {
			texts["files."+f.Name] = string(b.Files[f.Source])
		}
	}
	for label, path := range b.Definition.Templates {
		texts["templates."+label] = string(b.Files[path])
	}
	return texts
}

func harnessName(d tasks.Definition) string {
	if d.HasOwnHarness {
		return "the task's own"
	}
	return "Warpboard's"
}

// comparableJSON formats a value for comparing and showing: texts unchanged, empty values as nil, and others as JSON.
func comparableJSON(value any) []byte {
	switch v := value.(type) {
	case string:
		return []byte(v)
	case []string:
		return []byte(strings.Join(v, ", "))
	case tasks.Protocol:
		return []byte(v)
	case tasks.Lang:
		return []byte(v)
	case tasks.Ranking:
		return []byte(v)
	}
	data, err := json.Marshal(value)
	if err != nil {
		return fmt.Append(nil, value)
	}
	if s := string(data); s == "null" || s == "{}" {
		return nil
	}
	return data
}

func casesText(cases []tasks.Case) string {
	out := make([]string, len(cases))
	for i, c := range cases {
		out[i] = c.String()
	}
	return strings.Join(out, "\n")
}

func truncate(text []byte) string {
	const most = 2000
	if len(text) <= most {
		return string(text)
	}
	return strings.ToValidUTF8(string(text[:most]), "") + "…"
}

// programFiles returns the text of every file by its name at run time. The submission has the text SubmissionSource.
func programFiles(b *tasks.Bundle) map[string][]byte {
	out := map[string][]byte{}
	for _, f := range b.Definition.Files {
		out[f.Name] = b.Files[f.Source]
		if f.IsSubmission() {
			out[f.Name] = []byte(tasks.SubmissionSource)
		}
	}
	return out
}

func templateFiles(b *tasks.Bundle) map[string][]byte {
	out := map[string][]byte{}
	for label, name := range b.Definition.Templates {
		out[label] = b.Files[name]
	}
	return out
}

func diffFiles(key string, old, new map[string][]byte, breaks bool) []Change {
	every := maps.Clone(old)
	maps.Copy(every, new)
	var out []Change
	for _, name := range slices.Sorted(maps.Keys(every)) {
		before, had := old[name]
		after, has := new[name]
		if had && has && bytes.Equal(before, after) {
			continue
		}
		out = append(out, Change{
			Key:          key + "." + name,
			Old:          contentSummary(before, had),
			New:          contentSummary(after, has),
			BreaksScores: breaks,
		})
	}
	return out
}

func contentSummary(data []byte, there bool) string {
	if !there {
		return ""
	}
	return fmt.Sprintf("%d lines, %d bytes", bytes.Count(data, []byte("\n")), len(data))
}

func validationFile(b *tasks.Bundle) map[string][]byte {
	v := b.Definition.Validation
	if v == nil || b.Files[v.Script] == nil {
		return nil
	}
	return map[string][]byte{v.Script: b.Files[v.Script]}
}

func baselineFiles(b *tasks.Bundle) map[string][]byte {
	out := map[string][]byte{}
	for name, file := range b.Definition.Baselines {
		out[name] = b.Files[file]
	}
	return out
}
