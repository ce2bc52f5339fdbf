package outbox_test

import (
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"warpboard/internal/outbox"
	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/catalog"
	"warpboard/models/db"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
)

// owners has the owners of webhooks: the site's admin, and two people.
type owners struct {
	t               *testing.T
	s               *models.Store
	admin, ada, bob accounts.User
}

func newOwners(t *testing.T, s *models.Store) owners {
	return owners{t, s, modelstest.Person(t, s, "Grace", accounts.RoleAdmin),
		modelstest.Person(t, s, "Ada", accounts.RoleUser), modelstest.Person(t, s, "Bob", accounts.RoleUser)}
}

func (o owners) hook(of accounts.User) webhooks.Webhook {
	o.t.Helper()
	return create(o.t, o.s, of, webhooks.NewWebhook{ForWholeSite: of.ID == o.admin.ID, URL: "https://example.org/hook",
		EventKinds: []webhooks.EventKind{webhooks.RunEnded, webhooks.RecordTaken}})
}

func (o owners) ask(of accounts.User, hook webhooks.Webhook, n int) {
	o.t.Helper()
	for range n {
		if err := o.s.Webhooks.TestWebhook(o.t.Context(), of, hook.ID); err != nil {
			o.t.Fatal(err)
		}
	}
}

func (o owners) due(busy ...int64) []webhooks.DueDelivery {
	o.t.Helper()
	due, err := o.s.Webhooks.DueDeliveries(o.t.Context(), time.Now(), busy, 12, 100)
	if err != nil {
		o.t.Fatal(err)
	}
	return due
}

func (o owners) end(d webhooks.DueDelivery, tried webhooks.TryResult) {
	o.t.Helper()
	tried.At = time.Now()
	if err := o.s.Webhooks.RecordTryResult(o.t.Context(), d, tried); err != nil {
		o.t.Fatal(err)
	}
}

func (o owners) log(hook webhooks.Webhook) []webhooks.Delivery {
	o.t.Helper()
	list, err := o.s.Webhooks.WebhookDeliveries(o.t.Context(), o.admin, hook.ID, 0, 2000)
	if err != nil {
		o.t.Fatal(err)
	}
	return list
}

func (o owners) exec(statement string, args ...any) {
	o.t.Helper()
	if _, err := o.s.SQL().ExecContext(o.t.Context(), statement, args...); err != nil {
		o.t.Fatal(err)
	}
}

// TestWebhooksAreLimited checks the limits of webhooks on both databases.
func TestWebhooksAreLimited(t *testing.T) {
	each(t, func(t *testing.T, s *models.Store) {
		o := newOwners(t, s)
		t.Run("no one's backlog comes before what others have due", func(t *testing.T) {
			first, second, his, site := o.hook(o.ada), o.hook(o.ada), o.hook(o.bob), o.hook(o.admin)
			o.ask(o.ada, first, 3)
			o.ask(o.ada, second, 3)
			o.ask(o.bob, his, 1)
			o.ask(o.admin, site, 1)
			got := o.due()
			if len(got) != 8 || got[0].UserID != 0 || got[1].UserID != o.ada.ID || got[2].UserID != o.bob.ID ||
				got[7].OwnerPosition != 6 {
				t.Errorf("due: %+v", got)
			}
			if got = o.due(o.ada.ID, 0); len(got) != 1 || got[0].UserID != o.bob.ID {
				t.Errorf("due beside those that are busy: %+v", got)
			}
			for _, d := range o.due() {
				o.end(d, webhooks.TryResult{Status: 200})
			}
		})
		t.Run("thirty tests and redeliveries an hour", func(t *testing.T) {
			hook := o.hook(o.bob)
			for range 29 {
				o.ask(o.bob, hook, 1)
				o.end(o.due()[0], webhooks.TryResult{Status: 200})
			}
			old := o.log(hook)[0].ID
			if _, err := s.Webhooks.Redeliver(t.Context(), o.bob, hook.ID, old); err != nil {
				t.Fatal(err)
			}
			o.end(o.due()[0], webhooks.TryResult{Status: 200})
			if err := s.Webhooks.TestWebhook(t.Context(), o.bob, hook.ID); db.KindOf(err) != db.TooMany {
				t.Errorf("one more test: %v", err)
			}
			if _, err := s.Webhooks.Redeliver(t.Context(), o.bob, hook.ID, old); db.KindOf(err) != db.TooMany {
				t.Errorf("one more redelivery: %v", err)
			}
		})
		t.Run("the newest thousand stay in the log", func(t *testing.T) {
			hook := o.hook(o.bob)
			o.ask(o.bob, hook, 1)
			o.exec(`insert into webhook_deliveries (webhook_id, message_id, kind, body, created_at)
				with recursive n(i) as (select 1 union all select i + 1 from n where i < 1002) select w.id, 'msg', 'test', '{}', w.created_at from webhooks w, n where w.id = $1`, hook.ID)
			if err := s.Webhooks.SweepDeliveries(t.Context(), time.Now()); err != nil {
				t.Fatal(err)
			}
			if list := o.log(hook); len(list) != 1001 || list[1000].NextTryAt == nil {
				t.Errorf("%d are left; what is to be sent must stay", len(list))
			}
		})
		t.Run("a webhook that was switched off sends nothing more", func(t *testing.T) {
			hook := o.hook(o.ada)
			o.ask(o.ada, hook, 2)
			var due []webhooks.DueDelivery
			for _, d := range o.due() {
				if d.WebhookID == hook.ID {
					due = append(due, d)
				}
			}
			o.end(due[0], webhooks.TryResult{Status: 410, Problem: "gone", ReceiverGone: true})
			o.end(due[1], webhooks.TryResult{Status: 503, Problem: "the receiver answered 503"})
			for _, d := range o.log(hook) {
				if d.NextTryAt != nil {
					t.Errorf("it is tried again: %+v", d)
				}
			}
		})
		t.Run("only the site's have plain addresses", func(t *testing.T) {
			n := webhooks.NewWebhook{URL: "http://example.org/hook", EventKinds: webhooks.PersonalKinds()[:2]}
			if _, err := s.Webhooks.CreateWebhook(t.Context(), o.admin, n); db.KindOf(err) != db.Invalid {
				t.Errorf("a person's: %v", err)
			}
			n.ForWholeSite = true
			create(t, s, o.admin, n)
		})
		t.Run("the site's reach what the operator allows, and nothing else inside", func(t *testing.T) {
			n := webhooks.NewWebhook{
				URL:          "http://127.0.0.1:8080/hook",
				EventKinds:   webhooks.SiteKinds(),
				ForWholeSite: true,
			}
			create(t, s, o.admin, n)
			n.URL = "http://10.0.0.1:8080/hook"
			if _, err := s.Webhooks.CreateWebhook(t.Context(), o.admin, n); db.KindOf(err) != db.Invalid {
				t.Errorf("a network that is not allowed: %v", err)
			}
		})
	})
}

// TestEventsReachOnlyThoseWhoMaySeeThem also checks that an event that cannot be read does not block others.
func TestEventsReachOnlyThoseWhoMaySeeThem(t *testing.T) {
	each(t, func(t *testing.T, s *models.Store) {
		o := newOwners(t, s)
		task := modelstest.Task(t, s, o.admin, "sum", "CPU")
		his := create(t, s, o.bob, webhooks.NewWebhook{URL: "https://example.org/hook",
			EventKinds: []webhooks.EventKind{webhooks.RecordTaken}})
		site := o.hook(o.admin)
		o.exec(`insert into webhook_events (kind, webhook_id, run_id, user_id, other_id, detail, created_at) values ('run.ended', 0, 0, 0, 0, '{', current_timestamp)`)
		modelstest.Finish(t, s, modelstest.Submit(t, s, o.bob, task)[0], 2000)
		if n, err := s.Webhooks.CreateDeliveries(t.Context()); n != 4 || err == nil ||
			!strings.Contains(err.Error(), "is dropped") {
			t.Errorf("%d events, %v", n, err)
		}
		if n, err := s.Webhooks.CreateDeliveries(t.Context()); n != 0 || err != nil {
			t.Errorf("%d events are left, %v", n, err)
		}
		if _, err := s.Catalog.UpdateTask(t.Context(), o.admin, task.ID,
			catalog.TaskSettings{Devices: []string{"CPU"}, Visibility: catalog.Hidden}); err != nil {
			t.Fatal(err)
		}
		modelstest.Finish(t, s, modelstest.Submit(t, s, o.admin, task)[0], 1000)
		if _, err := s.Webhooks.CreateDeliveries(t.Context()); err != nil {
			t.Error(err)
		}
		if n, all := len(o.log(his)), len(o.log(site)); n != 1 || all != 4 {
			t.Errorf("bob was told %d times, the site %d times; want 1, of the record that he took, and 4", n, all)
		}
	})
}

// TestSlowReceiversOfPeopleDoNotDelayTheSites checks the limit of concurrent tries for the webhooks of all people
// together.
func TestSlowReceiversOfPeopleDoNotDelayTheSites(t *testing.T) {
	s, err := models.Open(t.Context(), models.Config{
		Dir:      t.TempDir(),
		Webhooks: webhooks.AllowedNetworks{ForPeople: loopback},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	o := newOwners(t, s)
	slow, site := newReceiver(t), newReceiver(t)
	begun, leave := make(chan struct{}, 100), make(chan struct{})
	slow.respond(func(http.ResponseWriter, *http.Request) { begun <- struct{}{}; <-leave })
	for _, name := range strings.Fields("One Two Three Four Five Six Seven Eight Nine") {
		someone := modelstest.Person(t, s, name, accounts.RoleUser)
		o.ask(someone, create(t, s, someone, webhooks.NewWebhook{URL: slow.URL,
			EventKinds: webhooks.PersonalKinds()}), 5)
	}
	hook := create(t, s, o.admin, webhooks.NewWebhook{ForWholeSite: true, URL: site.URL,
		EventKinds: webhooks.SiteKinds()})
	d := outbox.NewWebhookDeliverer(outbox.WebhookConfig{AllowedForPeople: loopback, RootCAs: roots(), AnswerTimeout: time.Minute,
		LoopConfig: outbox.LoopConfig{Store: s, Log: slog.New(slog.DiscardHandler), Interval: 5 * time.Millisecond}})
	ended := make(chan error, 1)
	go func() { ended <- d.Run(t.Context()) }()
	t.Cleanup(func() { close(leave); <-ended })
	for range 12 {
		<-begun
	}
	o.ask(o.admin, hook, 1)
	site.waitForDeliveries(1)
	if len(begun) > 0 {
		t.Errorf("people have %d tries more at once than they may", len(begun))
	}
}
