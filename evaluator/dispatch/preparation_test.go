package dispatch

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/tasks"
)

// ahead requests tasks to precompile until there is none without a compiled version.
func (s *site) ahead(device string, known ...int64) (announced []job.PrecompileJob) {
	s.Helper()
	for {
		data, err := s.d.Next(s.Context(), job.WorkRequest{
			Worker:             "w1",
			Device:             device,
			WantsPrecompileJob: true,
			CompiledVersions:   known,
		})
		if err != nil {
			s.Fatal(err)
		}
		if len(data) == 0 {
			return announced
		}
		var p job.PrecompileJob
		if err := json.Unmarshal(data, &p); err != nil {
			s.Fatal(err)
		}
		announced, known = append(announced, p), append(known, p.VersionID)
	}
}

func (s *site) wantAhead(announced []job.PrecompileJob, want ...string) {
	s.Helper()
	var names []string
	for _, p := range announced {
		names = append(names, p.TaskName)
	}
	if !slices.Equal(names, want) {
		s.Errorf("told of %q, want %q", names, want)
	}
}

func TestEachOpenTaskIsAnnouncedToAWorkerOnceTheLatestFirst(t *testing.T) {
	eachSite(t, func(s *site) {
		s.boot()
		owner := modelstest.Person(s, s.store, "Cora", accounts.RoleCreator)
		past := time.Now().Add(-time.Hour)
		for name, settings := range map[string]catalog.TaskSettings{
			"over": {Devices: []string{"CPU"}, Deadline: &past}, "elsewhere": {Devices: []string{"H200"}},
		} {
			if _, err := s.store.Catalog.CreateTask(s.Context(), owner,
				catalog.NewTask{TaskSettings: settings, Bundle: modelstest.Bundle(name)}); err != nil {
				s.Fatal(err)
			}
		}
		for _, name := range []string{"first", "second"} {
			modelstest.Task(s, s.store, owner, name, "CPU", "H200")
		}
		announced := s.ahead("CPU")
		s.wantAhead(announced, "second", "first", "vectoradd")
		s.wantAhead(s.ahead("H200"), "second", "first", "elsewhere")

		changed := modelstest.Bundle("first")
		changed.Files["reference.h"] = []byte("// changed\n")
		first, err := s.store.Catalog.Task(s.Context(), "first")
		if err == nil {
			_, _, err = s.store.Catalog.Publish(s.Context(), owner, first.ID, changed, nil)
		}
		if err != nil {
			s.Fatal(err)
		}
		var known []int64
		for _, p := range announced {
			known = append(known, p.VersionID)
		}
		s.wantAhead(s.ahead("CPU", known...), "first")
	})
}

func TestAWorkerThatPrecompilesGetsTheTaskAndNoSubmission(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	s.boot()
	s.submit()
	version, err := s.store.Catalog.Version(t.Context(), s.task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	want := []job.PrecompileJob{{
		VersionID: version.ID, TaskName: "vectoradd", TaskHash: version.MeasurementHash, Task: version.Definition,
		Sources: map[string][]byte{"task.h": []byte("#pragma once\n"), "reference.h": []byte("// reference\n")},
	}}
	if diff := cmp.Diff(want, s.ahead("CPU")); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
	s.queue.largest = 100
	if diff := cmp.Diff([]job.PrecompileJob{{VersionID: version.ID, TaskName: "vectoradd"}},
		s.ahead("CPU")); diff != "" {
		t.Errorf("told of a task that is too large (-want +got):\n%s", diff)
	}
}

func TestNothingIsSentOfATaskThatCannotBePrecompiled(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "H200")
	s.boot()
	bundle := modelstest.Bundle("other")
	bundle.Definition.Lang = tasks.LangPython
	owner := modelstest.Person(t, s.store, "Cora", accounts.RoleCreator)
	task, err := s.store.Catalog.CreateTask(t.Context(), owner,
		catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]job.PrecompileJob{{VersionID: task.VersionID, TaskName: task.Slug}},
		s.ahead("CPU")); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}
