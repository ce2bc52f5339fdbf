package devices_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/boards"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/devices"
	"warpboard/models/modelstest"
	"warpboard/models/submissions"
	"warpboard/models/work"
)

// measured makes a run on a device that ends with a score and a record of its unit, or without one.
func measured(t *testing.T, s *models.Store, task catalog.Task, who, device, unit, hash string, score float64) work.Run {
	t.Helper()
	user := modelstest.Person(t, s, who, accounts.RoleUser)
	_, runs, err := s.Submissions.Submit(t.Context(), submissions.NewSubmission{User: user, TaskID: task.ID, Devices: []string{device},
		Mode: job.ModeRanked, Source: []byte("int main;"), Via: "test"})
	if err != nil {
		t.Fatal(err)
	}
	attempt, err := s.Work.StartAttempt(t.Context(), runs[0].Ref())
	if err != nil {
		t.Fatal(err)
	}
	result := modelstest.Result(attempt, score)
	result.Machine = job.Machine{Worker: "w1", Device: device, Name: unit, UUIDHash: hash}
	if _, err := s.Work.RecordResult(t.Context(), result, work.Findings{Score: &work.Score{NS: score}}); err != nil {
		t.Fatal(err)
	}
	if unit == "" {
		if _, err := s.SQL().ExecContext(t.Context(), fmt.Sprintf("update runs set machine = null where id = %d", runs[0].ID)); err != nil {
			t.Fatal(err)
		}
	}
	return runs[0]
}

func sort(t *testing.T, s *models.Store) {
	t.Helper()
	err := s.SetSetting(t.Context(), "sort_devices", "silicon")
	if err == nil {
		_, err = s.Devices.SortIfAsked(t.Context())
	}
	if err == nil {
		_, err = s.Boards.RebuildIfAsked(t.Context())
	}
	if err != nil {
		t.Fatal(err)
	}
}

// on tells how many people are on each board of a task.
func on(t *testing.T, s *models.Store, task catalog.Task) map[string]int64 {
	t.Helper()
	summaries, err := s.Boards.Summaries(t.Context(), []int64{task.VersionID})
	if err != nil {
		t.Fatal(err)
	}
	sizes := map[string]int64{}
	for key, b := range summaries {
		if b.Size > 0 {
			sizes[key.Device] = b.Size
		}
	}
	return sizes
}

func reload(t *testing.T, s *models.Store, task catalog.Task) catalog.Task {
	t.Helper()
	task, err := s.Catalog.TaskByID(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// TestOldRowsGoToTheSiliconOfTheirRecords: one board of H100 becomes two; a run without a record waits for an admin, whose
// answer moves it. Boards of models with one silicon stay as they are.
func TestOldRowsGoToTheSiliconOfTheirRecords(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		boss := modelstest.Person(t, s, "boss", accounts.RoleAdmin)
		task := modelstest.Task(t, s, boss, "add", "H100", "H200", "A100")
		measured(t, s, task, "ann", "H100", "NVIDIA H100 80GB HBM3", "aa", 100)
		measured(t, s, task, "ben", "H100", "NVIDIA H100 PCIe", "bb", 110)
		measured(t, s, task, "cid", "H100", "", "", 120)
		measured(t, s, task, "ann", "H200", "NVIDIA H200", "cc", 90)
		measured(t, s, task, "ann", "A100", "NVIDIA A100-SXM4-40GB", "dd", 200)
		measured(t, s, task, "dan", "A100", "", "", 210)
		before, err := s.Boards.Board(t.Context(), task.VersionID, "H200", boards.Part{Limit: 1})
		if err == nil {
			err = s.Fleet.PauseDevice(t.Context(), boss, "H100", "New cables.")
		}
		if err != nil {
			t.Fatal(err)
		}

		sort(t, s)
		pauses, err := s.Fleet.Pauses(t.Context())
		for _, label := range []string{"H100-SXM", "H100-PCIe"} {
			if err != nil || pauses[label].Why != "New cables." {
				t.Errorf("H100 was paused, and %s is not: %+v, %v", label, pauses, err)
			}
		}
		want := map[string]int64{"H100-SXM": 1, "H100-PCIe": 1, "H100": 1, "H200": 1, "A100-SXM-40GB": 2}
		if diff := cmp.Diff(want, on(t, s, task)); diff != "" {
			t.Errorf("people on boards:\n%s", diff)
		}
		if diff := cmp.Diff([]string{"H100-PCIe", "H100-SXM", "H200", "A100-SXM-40GB"}, reload(t, s, task).Devices); diff != "" {
			t.Errorf("devices of the task:\n%s", diff)
		}
		if after, err := s.Boards.Board(t.Context(), task.VersionID, "H200", boards.Part{Limit: 1}); err != nil || after.Standings[0].RunID != before.Standings[0].RunID {
			t.Errorf("the board of H200: %+v, %v", after, err)
		}
		asked, err := s.Fleet.Unsorted(t.Context(), boss)
		if diff := cmp.Diff([]devices.Unsorted{{Device: "H100", Names: "NVIDIA H100 80GB HBM3, NVIDIA H100 PCIe", Runs: 1,
			Choices: []string{"H100-PCIe", "H100-SXM"}}}, asked); diff != "" || err != nil {
			t.Errorf("the question: %v\n%s", err, diff)
		}

		if err := s.Fleet.AssignDevice(t.Context(), boss, "H100", "L4"); db.KindOf(err) != db.Invalid {
			t.Errorf("H100 became L4: %v", err)
		}
		if err := s.Fleet.AssignDevice(t.Context(), modelstest.Person(t, s, "ann", accounts.RoleUser), "H100", "H100-SXM"); db.KindOf(err) != db.Forbidden {
			t.Errorf("someone assigned: %v", err)
		}
		if err := s.Fleet.AssignDevice(t.Context(), boss, "H100", "H100-PCIe"); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Boards.RebuildIfAsked(t.Context()); err != nil {
			t.Fatal(err)
		}
		want = map[string]int64{"H100-SXM": 1, "H100-PCIe": 2, "H200": 1, "A100-SXM-40GB": 2}
		if diff := cmp.Diff(want, on(t, s, task)); diff != "" {
			t.Errorf("after the answer:\n%s", diff)
		}
		if asked, err := s.Fleet.Unsorted(t.Context(), boss); err != nil || len(asked) > 0 {
			t.Errorf("still asked: %+v, %v", asked, err)
		}
	})
}

// TestMemoryOfAnOldRunIsThatOfItsWorkersUnit, because a machine record has none.
func TestMemoryOfAnOldRunIsThatOfItsWorkersUnit(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		task := modelstest.Task(t, s, modelstest.Person(t, s, "boss", accounts.RoleAdmin), "add", "RTX-3080")
		measured(t, s, task, "ann", "RTX-3080", "NVIDIA GeForce RTX 3080", "aa", 100)
		measured(t, s, task, "ben", "RTX-3080", "NVIDIA GeForce RTX 3080", "gone", 110)
		err := s.Fleet.SaveHeartbeat(t.Context(), job.Heartbeat{Worker: "w1", Started: time.Now(), Slots: []job.Slot{
			{Device: "RTX-3080", Memory: 12 << 30, Machine: job.Machine{Name: "NVIDIA GeForce RTX 3080", UUIDHash: "aa"}}}})
		if err != nil {
			t.Fatal(err)
		}
		sort(t, s)
		if diff := cmp.Diff(map[string]int64{"RTX-3080-12GB": 1, "RTX-3080": 1}, on(t, s, task)); diff != "" {
			t.Error(diff)
		}
	})
}

// TestTaskGetsAllSiliconOfTheFamilyThatItAsksFor, also what comes later, and work that waited for the family goes there.
func TestTaskGetsAllSiliconOfTheFamilyThatItAsksFor(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		boss := modelstest.Person(t, s, "boss", accounts.RoleAdmin)
		task := modelstest.Task(t, s, boss, "add", "H100", "CPU")
		waits := modelstest.Submit(t, s, boss, task)[0]
		for _, step := range []struct{ label, want string }{
			{"H200-NVL", "[H100 CPU]"}, {"H100-SXM", "[H100-SXM CPU]"}, {"H100-PCIe", "[H100-PCIe H100-SXM CPU]"},
		} {
			for i := range 2 { // the second time it is known
				fresh, err := s.Devices.NoteDevices(t.Context(), []devices.Device{{Label: step.label, Name: "NVIDIA", Memory: 80 << 30}})
				if err != nil || len(fresh) != 1-i {
					t.Fatalf("%s: %v, %v", step.label, fresh, err)
				}
			}
			if got := fmt.Sprint(reload(t, s, task).Devices); got != step.want {
				t.Errorf("after %s: %s, want %s", step.label, got, step.want)
			}
		}
		if run, err := s.Work.Run(t.Context(), waits.ID); err != nil || run.Device != "H100-SXM" {
			t.Errorf("the run that waited is for %q, %v", run.Device, err)
		}
		later := modelstest.Task(t, s, boss, "scale", "H100")
		if got := fmt.Sprint(later.Devices); got != "[H100-PCIe H100-SXM]" {
			t.Errorf("a later task has %s", got)
		}
		same, err := s.Catalog.UpdateTask(t.Context(), boss, later.ID, catalog.TaskSettings{Devices: later.Devices})
		if err != nil || fmt.Sprint(same.Asked) != "[H100]" {
			t.Errorf("settings that change no device leave %v, %v", same.Asked, err)
		}
	})
}

// TestACredentialForAFamilyCoversItsSilicon, once that has been noted.
func TestACredentialForAFamilyCoversItsSilicon(t *testing.T) {
	s := modelstest.Open(t)
	secret, _, err := s.Fleet.CreateCredential(t.Context(), modelstest.Person(t, s, "boss", accounts.RoleAdmin), "w1", []string{"H100"})
	if err != nil {
		t.Fatal(err)
	}
	may, err := s.Fleet.MayTake(t.Context(), "w1")
	if err != nil || !may("H100-SXM") || may("H200") {
		t.Errorf("may take H100-SXM: %v, H200: %v, %v", may("H100-SXM"), may("H200"), err)
	}
	if _, err := s.Devices.NoteDevices(t.Context(), []devices.Device{{Label: "H100-SXM"}, {Label: "H200"}}); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := s.Fleet.AuthorizeWorker(t.Context(), "w1", secret); fmt.Sprint(got) != "[H100 H100-SXM]" || !ok || err != nil {
		t.Errorf("%v, %v, %v", got, ok, err)
	}
}
