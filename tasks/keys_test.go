package tasks_test

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"warpboard/tasks"
)

var starterOf = map[tasks.Lang]string{tasks.LangCPP: "vectoradd_cpp", tasks.LangCUDA: "vectoradd_cuda",
	tasks.LangPython: "softmax_numpy"}

// starter returns the files of a built-in task in a language, without its subfolders.
func starter(t *testing.T, lang tasks.Lang) fstest.MapFS {
	t.Helper()
	from, err := tasks.ExampleFolder(starterOf[lang])
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{"include/more.h": {Data: []byte("#pragma once\n")}}
	entries, err := fs.ReadDir(from, ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !e.IsDir() {
			text, err := fs.ReadFile(from, e.Name())
			if err != nil {
				t.Fatal(err)
			}
			folder[e.Name()] = &fstest.MapFile{Data: text}
		}
	}
	return folder
}

// withKeys replaces keys in the task.yml of folder by those in lines, and returns the task.
func withKeys(t *testing.T, folder fstest.MapFS, lines string) *tasks.Bundle {
	t.Helper()
	var all, change map[string]any
	if err := yaml.Unmarshal(folder[tasks.TaskFile].Data, &all); err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal([]byte(lines), &change); err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	for key, value := range change {
		all[key] = value
	}
	if strings.Contains(lines, "benchmarks:") {
		delete(all, "roofline") // the new cases may lack the arguments of the roofline
	}
	text, err := yaml.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	folder[tasks.TaskFile] = &fstest.MapFile{Data: text}
	b, err := tasks.OpenFolder(folder, tasks.ReadOptions{}).ReadBundle(".")
	if err != nil {
		t.Fatalf("%s: %v", lines, err)
	}
	return b
}

func TestEachKeysExampleMakesATask(t *testing.T) {
	for _, key := range tasks.TaskFileKeys() {
		if key.Example == "" {
			continue
		}
		t.Run(key.Name, func(t *testing.T) {
			lang := tasks.LangCPP
			if !key.AppliesToLanguage(lang) {
				lang = key.Languages[0]
			}
			withKeys(t, starter(t, lang), key.Example)
		})
	}
}

func TestEachKeysDefaultIsWhatLeavingItOutMeans(t *testing.T) {
	for _, key := range tasks.TaskFileKeys() {
		if key.Default == "" || strings.Contains(key.Name, ".") {
			continue
		}
		t.Run(key.Name, func(t *testing.T) {
			folder := starter(t, tasks.LangCPP)
			answer := withKeys(t, folder, key.Name+": "+key.Default)
			leftOut := withKeys(t, folder, key.Name+": null")
			if diff := cmp.Diff(leftOut.Definition, answer.Definition); diff != "" {
				t.Errorf("%s: %s is not the default (-left out +said):\n%s", key.Name, key.Default, diff)
			}
		})
	}
}

// TestEachKeyIsExplainedAndTried checks that each key has a description, and that an example contains its last part.
func TestEachKeyIsExplainedAndTried(t *testing.T) {
	all := ""
	for _, key := range tasks.TaskFileKeys() {
		all += key.Example + "\n"
	}
	for _, key := range tasks.TaskFileKeys() {
		last := key.Name[strings.LastIndex(key.Name, ".")+1:]
		if key.MeaningText == "" || key.LimitsText == "" || !strings.Contains(all, last+":") {
			t.Errorf("%s lacks its meaning, its limits or an example: %+v", key.Name, key)
		}
	}
}

func TestHarnessPartsAreWhatBuiltInTasksDefine(t *testing.T) {
	for lang, name := range starterOf {
		folder := starter(t, lang)
		for _, part := range tasks.HarnessDeclarations(lang) {
			word := part.Name[strings.LastIndex(part.Name, ":")+1:]
			text, err := fs.ReadFile(folder, part.File)
			switch {
			case part.IsFromHarness || part.File == "the submission" || part.File == "submission.py":
				if !strings.Contains(part.Usage, word) {
					t.Errorf("%s is not in its own use: %s", word, part.Usage)
				}
			case err != nil || !strings.Contains(string(text), word):
				t.Errorf("%s of %s does not define %s (%v)", part.File, name, word, err)
			}
		}
	}
}
