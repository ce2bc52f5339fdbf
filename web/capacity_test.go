package web_test

import (
	"encoding/json"
	"testing"

	"warpboard/clients/go"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

// TestCapacityIsRightWithoutAnyWorker checks that programs that start machines see the demand for a device that has no
// worker yet. A paused device needs no slots.
func TestCapacityIsRightWithoutAnyWorker(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, store *models.Store) {
		s := webtest.StartAt(t, "127.0.0.1:0", store)
		admin := modelstest.Person(t, store, "Root", accounts.RoleAdmin)
		task := modelstest.Task(t, store, admin, "sort", "H200")
		read := func() (list struct{ Devices []client.Capacity }) {
			t.Helper()
			if err := json.Unmarshal([]byte(webtest.Body(t, s.Browser().Get("/api/v1/capacity"))), &list); err != nil {
				t.Fatal(err)
			}
			return list
		}
		if list := read(); len(list.Devices) != 0 {
			t.Errorf("capacity of an empty site: %+v", list)
		}
		modelstest.Submit(t, store, admin, task)
		modelstest.Submit(t, store, admin, task)
		list := read()
		if len(list.Devices) != 1 {
			t.Fatalf("capacity is %+v", list)
		}
		d := list.Devices[0]
		if d.Device != "H200" || d.Waiting != 2 || d.WantedSlots != 2 || d.Slots != 0 || d.OldestWaitSeconds <= 0 {
			t.Errorf("capacity is %+v", d)
		}
		if err := store.Fleet.PauseDevice(t.Context(), admin, "H200", ""); err != nil {
			t.Fatal(err)
		}
		if d := read().Devices[0]; d.WantedSlots != 0 || d.Waiting != 2 {
			t.Errorf("capacity of a paused device is %+v", d)
		}
	})
}
