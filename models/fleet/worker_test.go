package fleet_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"warpboard/evaluator/job"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/fleet"
	"warpboard/models/modelstest"
	"warpboard/models/work"
)

func TestAWorkerHasTheStateOfItsLastHeartbeat(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		beat := job.Heartbeat{
			Worker: "w1", WorkerStartedAt: time.Now(), WorkerVersion: "1", Attempts: []string{"a"},
			Slots: []job.Slot{{Device: "CPU"}, {Device: "CPU", Index: 1, DisabledReason: "hot"},
				{Device: "H200", MemoryBytes: 141 << 30}},
			SelfTestResults: []job.SelfTestResult{{Name: "network", Passed: true, Detail: "none"}},
		}
		modelstest.Check(t, s.Fleet.SaveHeartbeat(ctx, beat))
		tests := beat.SelfTestResults
		beat.SelfTestResults, beat.Attempts = nil, nil
		modelstest.Check(t, s.Fleet.SaveHeartbeat(ctx, beat))
		list := modelstest.Got[[]fleet.Worker](t)(s.Fleet.Workers(ctx))
		if len(list) != 1 {
			t.Fatalf("%d workers", len(list))
		}
		w := list[0]
		if diff := cmp.Diff(tests, w.SelfTestResults); diff != "" || len(w.AttemptIDs) != 0 {
			t.Errorf("self-test:\n%s, attempts %v", diff, w.AttemptIDs)
		}
		if !w.AcceptsJobsOn(w.Slots[0]) || w.AcceptsJobsOn(w.Slots[1]) || w.Slots[2].MemoryBytes != 141<<30 {
			t.Errorf("slots: %+v", w.Slots)
		}
		if !w.IsLive(time.Now()) || w.IsLive(time.Now().Add(fleet.WorkerTimeout)) {
			t.Error("the worker is live at the wrong time")
		}
		modelstest.WantKind(t, s.Fleet.ForgetWorker(ctx, admin, "w1"), db.Conflict)
		beat.IsStopping = true
		modelstest.Check(t, s.Fleet.SaveHeartbeat(ctx, beat))
		modelstest.Check(t, s.Fleet.ForgetWorker(ctx, admin, "w1"))
	})
}

func TestARemoteWorkerHasTheDevicesOfItsCredentialAndNoOthers(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		_, _, err := s.Fleet.CreateCredential(t.Context(), modelstest.Person(t, s, "Root", accounts.RoleAdmin), "w1",
			[]string{"CPU"})
		modelstest.Check(t, err)
		for _, name := range []string{"w1", "w2"} {
			modelstest.Check(t, s.Fleet.SaveHeartbeat(t.Context(),
				job.Heartbeat{Worker: name, Slots: []job.Slot{{Device: "H200"}, {Device: "CPU"}}}))
		}
		var kept []string
		for _, w := range modelstest.Got[[]fleet.Worker](t)(s.Fleet.Workers(t.Context())) {
			for _, slot := range w.Slots {
				kept = append(kept, w.Name+" "+slot.Device)
			}
		}
		if diff := cmp.Diff([]string{"w1 CPU", "w2 H200", "w2 CPU"}, kept); diff != "" {
			t.Errorf("slots (-want +got):\n%s", diff)
		}
	})
}

func TestAHeartbeatTellsOfAttemptsWhoseEventsWereLost(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		w, ctx := modelstest.NewWorld(t, s), t.Context()
		run := w.Submit(t, s, w.Ann)
		attempt, err := s.Work.StartAttempt(ctx, run.WorkRef())
		modelstest.Check(t, err)
		known, fresh, stale, err := s.Work.ClassifyAttempts(ctx, "w1", []string{attempt.ID, "unknown"})
		modelstest.Check(t, err)
		if diff := cmp.Diff([][]string{{attempt.ID}, {attempt.ID}}, [][]string{known, fresh}); diff != "" {
			t.Errorf("known and fresh (-want +got):\n%s", diff)
		}
		out, err := s.Work.RecordAttemptsReceived(ctx, "w1", fresh...)
		events := out.Events
		if err != nil || len(events) != 1 || events[0].State != work.StateBuilding || len(stale) != 1 ||
			stale[0] != "unknown" {
			t.Errorf("NoteTaken: %v, %v, %v", events, stale, err)
		}
		if out, err := s.Work.RecordAttemptsReceived(ctx, "w1", attempt.ID); err != nil || len(out.Events) != 0 {
			t.Errorf("said again: %v, %v", out.Events, err)
		}
		live := modelstest.Got[[]work.LiveAttempt](t)(s.Work.LiveAttempts(ctx))
		if len(live) != 1 || live[0].Worker != "w1" || live[0].Device != "CPU" || live[0].ReceivedAt == nil ||
			live[0].Secret != attempt.Secret {
			t.Errorf("live: %+v", live)
		}
	})
}

func TestACredentialOpensItsDevicesUntilItIsRevoked(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		admin := modelstest.Person(t, s, "Root", accounts.RoleAdmin)
		user := modelstest.Person(t, s, "Ann", accounts.RoleUser)
		create := func(actor accounts.User, name string, devices ...string) (string, error) {
			secret, _, err := s.Fleet.CreateCredential(ctx, actor, name, devices)
			return secret, err
		}
		modelstest.WantKind(t, modelstest.Second(create(user, "gpu-1", "H200")), db.Forbidden)
		modelstest.WantKind(t, modelstest.Second(create(admin, "gpu 1", "H200")), db.Invalid)
		modelstest.WantKind(t, modelstest.Second(create(admin, "gpu-1")), db.Invalid)
		secret := modelstest.Got[string](t)(create(admin, "gpu-1", "H200", "CPU"))
		modelstest.WantKind(t, modelstest.Second(create(admin, "gpu-1", "H200")), db.Conflict)
		if devices, ok, err := s.Fleet.AuthorizeWorker(ctx, "gpu-1", secret); err != nil || !ok || len(devices) != 2 {
			t.Errorf("AuthorizeWorker: %v, %v, %v", devices, ok, err)
		}
		modelstest.Check(t, s.Fleet.RevokeCredential(ctx, admin, "gpu-1"))
		for _, try := range [][2]string{{"gpu-1", secret}, {"gpu-1", "guess"}, {"gpu-2", secret}} {
			if _, ok, err := s.Fleet.AuthorizeWorker(ctx, try[0], try[1]); ok || err != nil {
				t.Errorf("%v opened: %v, %v", try, ok, err)
			}
		}
		modelstest.WantKind(t, s.Fleet.RevokeCredential(ctx, admin, "gpu-1"), db.NotFound)
		fresh := modelstest.Got[string](t)(create(admin, "gpu-1", "CPU"))
		if _, ok, err := s.Fleet.AuthorizeWorker(ctx, "gpu-1", fresh); !ok || err != nil {
			t.Errorf("a new credential under a freed name: %v, %v", ok, err)
		}
		if list := modelstest.Got[[]fleet.WorkerCredential](t)(s.Fleet.Credentials(ctx)); len(list) != 1 ||
			list[0].UsedAt == nil {
			t.Errorf("Credentials: %+v", list)
		}
	})
}

func TestAPauseHoldsUntilAnAdminEndsIt(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		ctx := t.Context()
		admin, user := modelstest.Person(t, s, "Root", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ann", accounts.RoleUser)
		modelstest.WantKind(t, s.Fleet.PauseDevice(ctx, user, "CPU", ""), db.Forbidden)
		modelstest.WantKind(t, s.Fleet.PauseDevice(ctx, admin, "no device", ""), db.Invalid)
		modelstest.Check(t, s.Fleet.PauseDevice(ctx, admin, "CPU", ""))
		modelstest.Check(t, s.Fleet.PauseDevice(ctx, admin, "CPU", ""))
		if p := modelstest.Got[map[string]fleet.Pause](t)(s.Fleet.Pauses(ctx)); len(p) != 1 ||
			p["CPU"].PausedBy != "Root" ||
			p["CPU"].Since.IsZero() {
			t.Errorf("paused: %+v", p)
		}
		if loads, err := s.Work.ReadSiteLoad(ctx); err != nil || len(loads.PausedDevices) != 1 ||
			loads.PausedDevices["CPU"].PausedBy != "Root" {
			t.Errorf("with the loads, paused: %+v, %v", loads.PausedDevices, err)
		}
		modelstest.WantKind(t, s.Fleet.ResumeDevice(ctx, user, "CPU"), db.Forbidden)
		modelstest.Check(t, s.Fleet.ResumeDevice(ctx, admin, "CPU"))
		modelstest.Check(t, s.Fleet.ResumeDevice(ctx, admin, "CPU"))
		if p := modelstest.Got[map[string]fleet.Pause](t)(s.Fleet.Pauses(ctx)); len(p) != 0 {
			t.Errorf("paused: %+v", p)
		}
		if acts := modelstest.Got[[]accounts.AuditEntry](t)(s.Accounts.AuditLog(ctx, admin, "", 0, 10)); len(acts) != 3 {
			t.Errorf("the audit log has %d lines: %+v", len(acts), acts)
		}
	})
}

func TestASettingIsKept(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		for _, want := range []string{"", "1", "2"} {
			if want != "" {
				modelstest.Check(t, s.SetSetting(t.Context(), "installed", want))
			}
			if value := modelstest.Got[string](t)(s.Setting(t.Context(), "installed")); value != want {
				t.Errorf("setting is %q, want %q", value, want)
			}
		}
	})
}
