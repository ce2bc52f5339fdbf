package dispatch

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/evaluator/queue"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/modelstest"
	"warpboard/tasks"
)

// prepares has the dispatcher look often enough for all hints to be sent.
func (s *site) prepares(d *Dispatcher) {
	s.Helper()
	for range 5 {
		if err := d.prepare(s.Context(), time.Now()); err != nil {
			s.Fatal(err)
		}
	}
}

func (s *site) wantHints(d *Dispatcher, want ...string) {
	s.Helper()
	s.prepares(d)
	if got := s.queue.hinted(); !slices.Equal(got, want) {
		s.Errorf("hints %q, want %q", got, want)
	}
}

func joins(name string, devices ...string) job.Heartbeat {
	beat := job.Heartbeat{Worker: name, Started: time.Now()}
	for i, device := range devices {
		beat.Slots = append(beat.Slots, job.Slot{Index: i, Device: device})
	}
	return beat
}

func TestWorkersAreToldOnceOfEachOpenTaskTheLatestFirst(t *testing.T) {
	eachSite(t, func(s *site) {
		d, r := s.boot()
		s.wantHints(d, "vectoradd CPU")
		owner := modelstest.Person(s, s.store, "Cora", accounts.RoleCreator)
		past := time.Now().Add(-time.Hour)
		for name, settings := range map[string]catalog.TaskSettings{
			"over": {Devices: []string{"CPU"}, Deadline: &past}, "elsewhere": {Devices: []string{"H200"}},
		} {
			if _, err := s.store.Catalog.CreateTask(s.Context(), owner, catalog.NewTask{TaskSettings: settings, Bundle: modelstest.Bundle(name)}); err != nil {
				s.Fatal(err)
			}
		}
		for _, name := range []string{"first", "second"} {
			modelstest.Task(s, s.store, owner, name, "CPU", "H200")
		}
		s.wantHints(d, "second CPU", "first CPU")

		changed := modelstest.Bundle("first")
		changed.Files["reference.h"] = []byte("// changed\n")
		first, err := s.store.Catalog.Task(s.Context(), "first")
		if err == nil {
			_, _, err = s.store.Catalog.Publish(s.Context(), owner, first.ID, changed, nil)
		}
		if err != nil {
			s.Fatal(err)
		}
		s.wantHints(d, "first CPU")

		s.sync(r, joins("w2", "H200"))
		s.wantHints(d, "first H200", "second H200", "elsewhere H200")
		s.sync(r, joins("w2", "H200")) // it was restarted
		s.wantHints(d, "first H200", "second H200", "elsewhere H200")
	})
}

func TestAHintHoldsTheTaskAndNoSubmission(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	s.submit()
	d, _ := s.boot()
	s.prepares(d)
	version, err := s.store.Catalog.Version(t.Context(), s.task.VersionID)
	if err != nil {
		t.Fatal(err)
	}
	want := []job.Preparation{{
		Version: job.Version, Device: "CPU", Name: "vectoradd", TaskKey: version.Key, Task: version.Definition,
		Sources: map[string][]byte{"task.h": []byte("#pragma once\n"), "reference.h": []byte("// reference\n")},
	}}
	if diff := cmp.Diff(want, s.queue.hints); diff != "" {
		t.Errorf("hints (-want +got):\n%s", diff)
	}
}

func TestNoUselessHints(t *testing.T) {
	for name, beat := range map[string]job.Heartbeat{
		"refusing":      {Slots: []job.Slot{{Device: "CPU"}}, Refusing: "the sandbox does not hold"},
		"disabled slot": {Slots: []job.Slot{{Device: "CPU", Disabled: "hot"}}},
		"stopping":      {Slots: []job.Slot{{Device: "CPU"}}, Stopping: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "CPU")
			d, r := s.boot()
			beat.Worker = "w1"
			s.sync(r, beat)
			s.wantHints(d)
			s.sync(r, joins("w1", "CPU"))
			s.wantHints(d, "vectoradd CPU")
		})
	}
	for name, change := range map[string]func(*tasks.Definition){
		"Python": func(d *tasks.Definition) { d.Lang = tasks.LangPython },
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, modelstest.Open(t), "H200")
			bundle := modelstest.Bundle("other")
			change(&bundle.Definition)
			owner := modelstest.Person(t, s.store, "Cora", accounts.RoleCreator)
			if _, err := s.store.Catalog.CreateTask(t.Context(), owner, catalog.NewTask{TaskSettings: catalog.TaskSettings{Devices: []string{"CPU"}}, Bundle: bundle}); err != nil {
				t.Fatal(err)
			}
			d, _ := s.boot()
			s.wantHints(d)
		})
	}
}

func TestAHintThatCannotBeSentHoldsNothingUp(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "CPU")
	d, r := s.boot()
	s.queue.fails = fmt.Errorf("hint: %w", queue.ErrTooLarge)
	s.prepares(d)
	s.queue.fails = errFull
	s.sync(r, joins("w1", "CPU"))
	if err := d.prepare(t.Context(), time.Now()); !errors.Is(err, errFull) {
		t.Errorf("error is %v", err)
	}
	s.queue.fails = nil
	s.submit()
	s.pass(d, 0)
	s.take()
}

func TestALaterTaskIsHintedToWorkers(t *testing.T) {
	s := newSite(t, modelstest.Open(t), "H200")
	d, _ := s.boot()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Run(ctx) }()
	modelstest.Task(t, s.store, modelstest.Person(t, s.store, "Cora", accounts.RoleCreator), "later", "CPU")
	s.seen.until(t, "the worker is told", func() bool { return slices.Contains(s.queue.hinted(), "later CPU") })
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
