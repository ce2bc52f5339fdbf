package fleet_test

import (
	"fmt"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
)

func reload(t *testing.T, s *models.Store, task catalog.Task) catalog.Task {
	t.Helper()
	task, err := s.Catalog.TaskByID(t.Context(), task.ID)
	if err != nil {
		t.Fatal(err)
	}
	return task
}

// TestATaskGetsAllDevicesOfItsFamily checks that a task for a family of GPUs also gets devices reported later, and that
// work waiting for the family moves to the first of them.
func TestATaskGetsAllDevicesOfItsFamily(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		boss := modelstest.Person(t, s, "boss", accounts.RoleAdmin)
		task := modelstest.Task(t, s, boss, "add", "H100", "CPU")
		waits := modelstest.Submit(t, s, boss, task)[0]
		for _, step := range []struct{ label, want string }{
			{"H200-NVL", "[H100 CPU]"}, {"H100-SXM", "[H100-SXM CPU]"}, {"H100-PCIe", "[H100-PCIe H100-SXM CPU]"},
		} {
			for i := range 2 { // the second report is of a known device
				fresh, err := s.Fleet.RecordDevices(t.Context(),
					[]fleet.Device{{Label: step.label, DriverName: "NVIDIA", MemoryBytes: 80 << 30}})
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
		if err != nil || fmt.Sprint(same.RequestedDevices) != "[H100]" {
			t.Errorf("settings that change no device leave %v, %v", same.RequestedDevices, err)
		}
	})
}

// TestACredentialForAFamilyCoversItsDevices checks that a credential for a family allows jobs of all its devices, and
// that AuthorizeWorker returns those that were reported.
func TestACredentialForAFamilyCoversItsDevices(t *testing.T) {
	s := modelstest.Open(t)
	secret, _, err := s.Fleet.CreateCredential(t.Context(), modelstest.Person(t, s, "boss", accounts.RoleAdmin), "w1",
		[]string{"H100"})
	if err != nil {
		t.Fatal(err)
	}
	may, err := s.Fleet.DeviceFilterOf(t.Context(), "w1")
	if err != nil || !may("H100-SXM") || may("H200") {
		t.Errorf("may take H100-SXM: %v, H200: %v, %v", may("H100-SXM"), may("H200"), err)
	}
	if _, err := s.Fleet.RecordDevices(t.Context(),
		[]fleet.Device{{Label: "H100-SXM"}, {Label: "H200"}}); err != nil {
		t.Fatal(err)
	}
	if got, ok, err := s.Fleet.AuthorizeWorker(t.Context(), "w1", secret); fmt.Sprint(got) != "[H100 H100-SXM]" ||
		!ok || err != nil {
		t.Errorf("%v, %v, %v", got, ok, err)
	}
}
