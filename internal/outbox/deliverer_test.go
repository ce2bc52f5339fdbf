package outbox_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
)

// TestEventsAreDeliveredOverFailuresAndRestarts follows events through a failing receiver and a restart of the site.
func TestEventsAreDeliveredOverFailuresAndRestarts(t *testing.T) {
	each(t, func(t *testing.T, s *models.Store) {
		admin, ada, bob := modelstest.Person(t, s, "Grace", accounts.RoleAdmin),
			modelstest.Person(t, s, "Ada", accounts.RoleUser), modelstest.Person(t, s, "Bob", accounts.RoleUser)
		task := modelstest.Task(t, s, admin, "sum", "CPU")
		site, mine, his := newReceiver(t), newReceiver(t), newReceiver(t)
		siteHook := create(t, s, admin, webhooks.NewWebhook{
			ForWholeSite: true,
			URL:          site.URL,
			EventKinds:   webhooks.SiteKinds(),
		})
		hook := create(t, s, ada, webhooks.NewWebhook{URL: mine.URL + "/hook?x=1",
			EventKinds: webhooks.PersonalKinds()})
		create(t, s, bob, webhooks.NewWebhook{URL: his.URL, EventKinds: []webhooks.EventKind{webhooks.RecordTaken}})

		// These runs end before a deliverer starts, and their events must not be lost.
		modelstest.Finish(t, s, modelstest.Submit(t, s, bob, task)[0], 2000)
		modelstest.Finish(t, s, modelstest.Submit(t, s, ada, task)[0], 1000)
		var c clock
		mine.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })
		stop := deliver(t, s, &c, loopback)
		kinds := map[string]int{}
		for _, d := range site.waitForDeliveries(4) {
			kind, _ := d.event(t)
			kinds[kind]++
			if !d.proper(siteHook.Secret) || d.proper(hook.Secret) {
				t.Errorf("wrong signature of %s", d.body)
			}
		}
		if kinds["run.ended"] != 2 || kinds["record.taken"] != 2 {
			t.Errorf("the site was told %v", kinds)
		}
		got := his.waitForDeliveries(2) // Bob's record, and its loss to Ada, in any order
		kind, data := got[0].event(t)
		if data["score_ns"] == 2000.0 {
			kind, data = got[1].event(t)
		}
		if previous, _ := data["previous"].(map[string]any); kind != "record.taken" || data["score_ns"] != 1000.0 ||
			previous["score_ns"] != 2000.0 || previous["user"].(map[string]any)["name"] != "Bob" {
			t.Errorf("bob was told %s and %s", got[0].body, got[1].body)
		}

		mine.waitForDeliveries(2)
		over(t, s, hook, tried(1))
		stop()
		mine.respond(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusOK) })
		deliver(t, s, &c, loopback) // a restarted site, while the pause before the second try continues
		c.forward(time.Minute)
		got = mine.waitForDeliveries(4)
		if ids := map[string]bool{got[0].id: true, got[1].id: true, got[2].id: true, got[3].id: true}; len(ids) != 2 {
			t.Errorf("two messages in two tries each have %d ids", len(ids))
		}
		_, data = got[0].event(t)
		if data["task"] != "sum" || data["state"] != "done" ||
			!strings.HasPrefix(data["url"].(string), "https://boards.example.org/runs/") {
			t.Errorf("ada was told %s", got[0].body)
		}
		if d := over(t, s, hook, tried(2)); d.DeliveredAt == nil || d.NextTryAt != nil || d.Status != 200 ||
			d.Error != "" {
			t.Errorf("noted: %+v", d)
		}
		// A delivery that was in progress at the restart arrives twice, with the same ID.
		notified := map[string]bool{}
		for _, d := range his.waitForDeliveries(2) {
			notified[d.id] = true
		}
		if len(notified) != 2 {
			t.Errorf("bob was told of %d events", len(notified))
		}
	})
}

// TestTwoDeliverersSendEachMessageOnce runs the deliverers of two processes of one site.
func TestTwoDeliverersSendEachMessageOnce(t *testing.T) {
	dsn := modelstest.PostgresURL(t)
	var stores []*models.Store
	for range 2 {
		store, err := models.Open(t.Context(),
			models.Config{
				Dir:      t.TempDir(),
				DSN:      dsn,
				Webhooks: webhooks.AllowedNetworks{ForSite: loopback, ForPeople: loopback},
			})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { store.Close() })
		stores = append(stores, store)
	}
	s := stores[0]
	ada := modelstest.Person(t, s, "Ada", accounts.RoleAdmin)
	r := newReceiver(t)
	hook := create(t, s, ada, webhooks.NewWebhook{URL: r.URL, EventKinds: webhooks.PersonalKinds()})
	task := modelstest.Task(t, s, ada, "sum", "CPU")
	var c clock
	for _, store := range stores {
		deliver(t, store, &c, loopback)
	}
	for i := range 10 {
		modelstest.Finish(t, s, modelstest.Submit(t, s, ada, task)[0], float64(1000+i))
	}
	seen := map[string]int{}
	for _, d := range r.waitForDeliveries(11) { // one message per run, and one for the first record
		seen[d.id]++
	}
	over(t, s, hook, func(d webhooks.Delivery) bool { return d.DeliveredAt != nil })
	if len(seen) != 11 {
		t.Errorf("%d messages in 11 requests", len(seen))
	}
}

// TestReceiversCannotHarmTheSite checks that every response, however hostile, ends its try, and that an error is
// stored.
func TestReceiversCannotHarmTheSite(t *testing.T) {
	s, err := models.Open(t.Context(),
		models.Config{Dir: t.TempDir(), Webhooks: webhooks.AllowedNetworks{ForSite: loopback, ForPeople: loopback}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	ada := modelstest.Person(t, s, "Ada", accounts.RoleUser)
	inside := newReceiver(t)
	leave := make(chan struct{})
	for name, test := range map[string]struct {
		answer  http.HandlerFunc
		problem string
	}{
		"redirect": {func(w http.ResponseWriter, q *http.Request) {
			http.Redirect(w, q, inside.URL, http.StatusTemporaryRedirect)
		}, "redirects are not followed"},
		"slow": {func(http.ResponseWriter, *http.Request) { <-leave }, "no answer within"},
		"trickle": {func(w http.ResponseWriter, q *http.Request) {
			for q.Context().Err() == nil {
				_, _ = w.Write([]byte("x"))
				_ = http.NewResponseController(w).Flush()
			}
		}, ""},
		"large head": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 1<<20)) },
			"exceeded"},
		"gone": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusGone) }, "410"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			r.respond(test.answer)
			if name == "slow" {
				defer close(leave)
			}
			hook := create(t, s, ada, webhooks.NewWebhook{URL: r.URL, EventKinds: webhooks.PersonalKinds()})
			if err := s.Webhooks.TestWebhook(t.Context(), ada, hook.ID); err != nil {
				t.Fatal(err)
			}
			var c clock
			stop := deliver(t, s, &c, loopback)
			d := over(t, s, hook, tried(1))
			stop()
			if !strings.Contains(d.Error, test.problem) || (d.DeliveredAt != nil) != (test.problem == "") ||
				strings.Contains(d.Error, r.URL) {
				t.Errorf("noted: %+v", d)
			}
			now, err := s.Webhooks.Webhook(t.Context(), ada, hook.ID)
			if err != nil || (now.DisabledAt != nil) != (name == "gone") {
				t.Errorf("%+v, %v", now, err)
			}
			if err := s.Webhooks.DeleteWebhook(t.Context(), ada, hook.ID); err != nil {
				t.Error(err)
			}
		})
	}
	if len(inside.got) > 0 {
		t.Error("a redirect was followed")
	}
}

// TestAddressesInsideAreRefusedAlsoUnderAName checks host names that resolve to internal addresses. The failed
// deliveries must disable the webhook.
func TestAddressesInsideAreRefusedAlsoUnderAName(t *testing.T) {
	each(t, func(t *testing.T, s *models.Store) {
		ada := modelstest.Person(t, s, "Ada", accounts.RoleUser)
		r := newReceiver(t)
		hook := create(t, s, ada, webhooks.NewWebhook{URL: strings.Replace(r.URL, "127.0.0.1", "localhost", 1),
			EventKinds: webhooks.PersonalKinds()})
		for range 5 {
			if err := s.Webhooks.TestWebhook(t.Context(), ada, hook.ID); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Webhooks.TestWebhook(t.Context(), ada, hook.ID); db.KindOf(err) != db.TooMany {
			t.Errorf("a sixth test: %v", err)
		}
		var c clock
		deliver(t, s, &c, nil)
		for n := 1; n <= 9; n++ {
			d := over(t, s, hook, tried(n))
			if !strings.Contains(d.Error, "address is refused") || strings.Contains(d.Error, "127.0.0.1") {
				t.Fatalf("noted: %+v", d)
			}
			c.forward(25 * time.Hour)
		}
		tier.Until(t, "the end of the webhook", func() bool {
			c.forward(25 * time.Hour) // the loop above waited only for the newest of the five deliveries
			now, err := s.Webhooks.Webhook(t.Context(), ada, hook.ID)
			if err != nil {
				t.Fatal(err)
			}
			return now.DisabledAt != nil && strings.Contains(now.DisabledReason, "5 deliveries")
		})
		if err := s.Webhooks.TestWebhook(t.Context(), ada, hook.ID); db.KindOf(err) != db.Conflict {
			t.Errorf("a test of a webhook that is off: %v", err)
		}
		if len(r.got) > 0 {
			t.Error("something came")
		}
	})
}

// TestALostWorkerAndALongWaitAreReportedOnce checks both events, also after a restart of the site.
func TestALostWorkerAndALongWaitAreReportedOnce(t *testing.T) {
	each(t, func(t *testing.T, s *models.Store) {
		admin := modelstest.Person(t, s, "Grace", accounts.RoleAdmin)
		r := newReceiver(t)
		hook := create(t, s, admin, webhooks.NewWebhook{ForWholeSite: true, URL: r.URL,
			EventKinds: []webhooks.EventKind{webhooks.WorkerLost, webhooks.WaitLong}, LongWait: 2 * time.Minute})
		beat := func(name string, stopping bool) {
			t.Helper()
			if err := s.Fleet.SaveHeartbeat(t.Context(),
				job.Heartbeat{Worker: name, IsStopping: stopping, Slots: []job.Slot{{Device: "H200"}}}); err != nil {
				t.Fatal(err)
			}
		}
		beat("gpu1", false)
		beat("gpu2", true) // announces that it stops, so it is not lost
		modelstest.Submit(t, s, admin, modelstest.Task(t, s, admin, "sum", "H200"))
		at, ctx := time.Now(), t.Context()
		watch := func(silent []webhooks.SilentWorker, at time.Time) {
			t.Helper()
			waits, err := s.Work.WaitingDevices(ctx)
			if err != nil || len(waits) != 1 {
				t.Error(waits, err)
				return
			}
			if err := s.Webhooks.WatchWorkersAndQueues(ctx, silent, []webhooks.WaitingWork{{Device: "H200", WaitingCount: 1, OldestSince: waits[0].OldestSince}},
				at); err != nil {
				t.Error(err)
			}
		}
		watch(nil, at)
		var c clock
		stop := deliver(t, s, &c, loopback)
		c.forward(5 * time.Minute)
		kinds := map[string]map[string]any{}
		for _, d := range r.waitForDeliveries(2) {
			kind, data := d.event(t)
			kinds[kind] = data
		}
		if kinds["worker.lost"]["worker"] != "gpu1" || kinds["wait.long"]["device"] != "H200" ||
			kinds["wait.long"]["limit_seconds"] != 120.0 {
			t.Errorf("told: %v", kinds)
		}
		over(t, s, hook, func(d webhooks.Delivery) bool { return d.DeliveredAt != nil })
		stop()
		watch([]webhooks.SilentWorker{{Worker: "gpu1"}}, c.now())
		if n, err := s.Webhooks.CreateDeliveries(ctx); n > 0 || err != nil {
			t.Errorf("%d events are told again, %v", n, err)
		}
		watch(nil, c.now()) // the worker has a heartbeat again, and is then lost again
		var all sync.WaitGroup
		for range 4 { // several processes of a site check at the same time
			all.Go(func() { watch([]webhooks.SilentWorker{{Worker: "gpu1"}}, c.now()) })
		}
		all.Wait()
		if n, err := s.Webhooks.CreateDeliveries(ctx); n != 1 || err != nil {
			t.Errorf("%d events, %v", n, err)
		}
	})
}
