package tasks_test

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"warpboard/evaluator/harness"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

func TestASubmissionOfSeveralFilesReadsBackEqual(t *testing.T) {
	for _, s := range []tasks.Submission{
		{Source: []byte("alone\n")},
		{Source: []byte("main"), Files: map[string][]byte{"b.h": {}, "a.h": []byte("b.h 3\nabc"), "c.h": []byte("\x00files\n")}},
	} {
		got, err := tasks.UnpackSubmission(s.Pack())
		if diff := cmp.Diff(s, got, cmpopts.EquateEmpty()); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	if s, err := tasks.UnpackSubmission([]byte("\x00files\n@SUBMISSION@ 40\nshort")); err == nil {
		t.Errorf("what breaks off was read as %q", s)
	}
}

func TestNoTwoSubmissionsPackToOneText(t *testing.T) {
	seen := map[string]int{}
	for i, s := range []tasks.Submission{
		{Source: []byte("a")}, {Source: []byte("ab")},
		{Source: []byte("a"), Files: map[string][]byte{"b.h": nil}}, {Source: []byte("a"), Files: map[string][]byte{"b.h": []byte("x")}},
		{Source: []byte("a"), Files: map[string][]byte{"c.h": []byte("x")}}, {Source: []byte("ax"), Files: map[string][]byte{"b.h": nil}},
		{Source: []byte("a"), Files: map[string][]byte{"b.h": nil, "c.h": []byte("x")}}, {Source: []byte("a"), Files: map[string][]byte{"b.h": []byte("x"), "c.h": nil}},
	} {
		if other, same := seen[string(s.Pack())]; same {
			t.Errorf("submissions %d and %d are one text", other, i)
		}
		seen[string(s.Pack())] = i
	}
}

// several returns a task that accepts additional files with every suffix that its language allows.
func several(t *testing.T, lang tasks.Lang) *tasks.Bundle {
	t.Helper()
	var patterns []string
	for _, suffix := range tasks.SubmissionSuffixes(lang) {
		patterns = append(patterns, fmt.Sprintf("%q", "*"+suffix))
	}
	return withKeys(t, starter(t, lang), "submission_files: ["+strings.Join(patterns, ", ")+"]")
}

func TestAFurtherFileNeverTakesAnothersName(t *testing.T) {
	many := map[string]string{}
	for i := range 17 {
		many[fmt.Sprintf("f%d.h", i)] = ""
	}
	for name, c := range map[string]struct {
		lang  tasks.Lang
		files map[string]string
		want  string
	}{
		"a header":                 {tasks.LangCPP, map[string]string{"kernels.h": "", "more_1-a.hpp": "", "more.cpp": ""}, ""},
		"a header for CUDA":        {tasks.LangCUDA, map[string]string{"kernels.cuh": "", "more.cu": ""}, ""},
		"a module":                 {tasks.LangPython, map[string]string{"helpers.py": "", "kernel.cu": ""}, ""},
		"no further files":         {tasks.LangCPP, nil, ""},
		"the task's":               {tasks.LangCPP, map[string]string{"task.h": ""}, `the file "task.h" has the name of a file of the task`},
		"the task's in capitals":   {tasks.LangCPP, map[string]string{"TASK.h": ""}, `the file "TASK.h" has the name of a file of the task`},
		"the main file's":          {tasks.LangCPP, map[string]string{"submission.cpp": ""}, "has the name of a file of the task"},
		"the harness's":            {tasks.LangCPP, map[string]string{"utils.h": ""}, "has the name of a file of Warpboard's harness"},
		"the harness's for later":  {tasks.LangCUDA, map[string]string{"warpboard_new.cuh": ""}, "has the name of a file of Warpboard's harness"},
		"what the task includes":   {tasks.LangCPP, map[string]string{"absent.h": ""}, `has the name of what task.h of the task includes or imports`},
		"what the task imports":    {tasks.LangPython, map[string]string{"einops.py": ""}, `has the name of what reference.py of the task includes or imports`},
		"a module of Python":       {tasks.LangPython, map[string]string{"json.py": ""}, "has the name of a module that Warpboard's harness imports"},
		"two of one name":          {tasks.LangCPP, map[string]string{"a.h": "", "A.h": ""}, `the file "a.h" and "A.h" differ in case alone`},
		"a folder":                 {tasks.LangCPP, map[string]string{"a/b.h": ""}, `the file "a/b.h" has a name that is not a plain file name`},
		"a folder above":           {tasks.LangCPP, map[string]string{"../b.h": ""}, "not a plain file name"},
		"a dot first":              {tasks.LangCPP, map[string]string{".b.h": ""}, "not a plain file name"},
		"a letter of another kind": {tasks.LangCPP, map[string]string{"ä.h": ""}, "not a plain file name"},
		"a long name":              {tasks.LangCPP, map[string]string{strings.Repeat("a", 63) + ".h": ""}, "has a name of more than 64 characters"},
		"another suffix":           {tasks.LangCPP, map[string]string{"a.so": ""}, `the file "a.so" is not one that the task takes beside the main one: *.h, *.hpp`},
		"no text":                  {tasks.LangCPP, map[string]string{"a.h": "\xff"}, `a.h:1: the byte 0xFF is not UTF-8 text`},
		"too many":                 {tasks.LangCPP, many, "it brings 17 further files, and 16 are the most"},
		"too large":                {tasks.LangCPP, map[string]string{"a.h": strings.Repeat("x", 999_999)}, "the files come to 1000003 bytes together, and a submission may have 1000000"},
	} {
		t.Run(name, func(t *testing.T) {
			b := several(t, c.lang)
			if b.Files["task.h"] != nil {
				b.Files["task.h"] = append(b.Files["task.h"], "\n # include <sub/absent.h>\n"...)
			} else {
				b.Files["reference.py"] = append(b.Files["reference.py"], "\nimport numpy as np, einops.layers\n"...)
			}
			s := tasks.Submission{Source: []byte("main"), Files: map[string][]byte{}}
			for name, text := range c.files {
				s.Files[name] = []byte(text)
			}
			sources, err := b.ProgramFiles(s)
			if err == nil {
				err = b.CheckFiles(s.Names())
			}
			if c.want != "" {
				wantError(t, err, c.want)
			} else if err != nil || len(sources) != len(b.Definition.Files)+len(c.files) {
				t.Errorf("%d files, %v", len(sources), err)
			}
		})
	}
}

// TestATasksFilesAreReadOncePerSubmission measures the check of a submission with many files, because it runs inside a
// database transaction and the files of a task may have megabytes.
func TestATasksFilesAreReadOncePerSubmission(t *testing.T) {
	tier.Needs(t, tier.Timed)
	b := several(t, tasks.LangCPP)
	b.Files["task.h"] = bytes.Repeat([]byte("#include \"other.h\"\n"), 20_000)
	var names []string
	for i := range tasks.MaxSubmissionFiles {
		names = append(names, fmt.Sprintf("f%d.h", i))
	}
	quickest := func(names []string) (took time.Duration) {
		for range 5 {
			begun := time.Now()
			if err := b.CheckFiles(names); err != nil {
				t.Fatal(err)
			}
			if once := time.Since(begun); took == 0 || once < took {
				took = once
			}
		}
		return took
	}
	if one, all := quickest(names[:1]), quickest(names); all > 5*one {
		t.Errorf("one name takes %v, and %d take %v", one, len(names), all)
	}
}

func TestATaskThatDoesNotSayItTakesOneFile(t *testing.T) {
	err := withKeys(t, starter(t, tasks.LangCPP), "").CheckFiles([]string{"a.h"})
	wantError(t, err, `the task takes one file, and "a.h" is another one`)
}

// TestNamesOfTheHarnessAndItsModulesAreReserved compares the reserved names in package tasks, which does not import the
// harness, with the files and imports of the harness.
func TestNamesOfTheHarnessAndItsModulesAreReserved(t *testing.T) {
	imported := regexp.MustCompile(`(?m)^[ \t]*(?:from[ \t]+(\w+)[\w.]*[ \t]+import\b|import[ \t]+(\w+)(?:$|[., ]))`)
	for _, lang := range []tasks.Lang{tasks.LangCPP, tasks.LangCUDA, tasks.LangPython} {
		b := several(t, lang)
		programs := harness.Sources(tasks.ProtocolEval, lang)
		for name, text := range programs {
			reserved := []string{name}
			for _, m := range imported.FindAllSubmatch(text, -1) {
				if module := string(m[1]) + string(m[2]); path.Ext(name) == ".py" && module != "__future__" {
					reserved = append(reserved, module+".py")
				}
			}
			for _, name := range reserved {
				if !slices.Contains(tasks.SubmissionSuffixes(lang), path.Ext(name)) {
					t.Fatalf("%s: the test knows no such file", name)
				}
				if err := b.CheckFiles([]string{name}); err == nil {
					t.Errorf("a %s submission may bring %s", lang, name)
				}
			}
		}
	}
}

func TestFurtherFilesAreFilesOfTheSubmissionToWorkers(t *testing.T) {
	b := several(t, tasks.LangCPP)
	def := b.Definition.WithFiles([]string{"a.h", "b.cpp"})
	sources, err := b.ProgramFiles(tasks.Submission{
		Source: []byte("main"),
		Files:  map[string][]byte{"a.h": []byte("A"), "b.cpp": []byte("B")},
	})
	if err != nil {
		t.Fatal(err)
	}
	set := harness.AssembleSources(def, sources)
	var submitted []string
	for _, u := range set.ToCompile {
		if u.HasSubmission {
			submitted = append(submitted, u.FileName)
		}
	}
	if diff := cmp.Diff([]string{"submission.cpp", "b.cpp"}, submitted); diff != "" {
		t.Errorf("units of the submission (-want +got):\n%s", diff)
	}
	for name := range set.TaskFiles() {
		if name == "a.h" || name == "b.cpp" || name == "submission.cpp" {
			t.Errorf("%s is beside the judge", name)
		}
	}
	if len(def.SubmissionFiles) != 0 || len(b.Definition.Config.Sources) != 1 {
		t.Errorf(
			"a worker is told %v, and the task was changed to %v",
			def.SubmissionFiles,
			b.Definition.Config.Sources,
		)
	}
	if diff := cmp.Diff(b.Definition.Files, b.Definition.WithFiles(nil).Files); diff != "" {
		t.Errorf("a submission of one file has other files (-want +got):\n%s", diff)
	}
}
