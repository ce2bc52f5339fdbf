package models_test

import (
	"slices"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/inbox"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
)

// notices delivers all waiting events, and returns the texts in a person's inbox, newest first.
func notices(t *testing.T, s *models.Store, who accounts.User) (texts []string) {
	t.Helper()
	for n := 1; n > 0; {
		n = modelstest.Got[int](t)(s.Webhooks.CreateDeliveries(t.Context()))
	}
	for _, n := range modelstest.Got[[]inbox.NamedNotice](t)(s.Inbox.List(t.Context(), who, 0, 10)) {
		texts = append(texts, n.Text())
	}
	return texts
}

func TestNoticesOfARecordWaitForItsConfirmation(t *testing.T) {
	for name, test := range map[string]struct {
		turns    []float64 // scores in nanoseconds: holder, challenger, holder, challenger
		ann, ben string
		records  int // number of record events sent to Ben's webhook
	}{
		"confirmed": {[]float64{1000, 900, 1000, 900}, "Ben took your record: ", "Your 1st place is confirmed: ", 1},
		"lucky":     {[]float64{1000, 1200, 1000, 1200}, "", "Your run was measured again and is not 1st: ", 0},
	} {
		t.Run(name, func(t *testing.T) {
			confirming(t, func(t *testing.T, s *models.Store, w world) {
				w.Score(t, s, w.Ann, 1000)
				hook := modelstest.Got[webhooks.Webhook](t)(s.Webhooks.CreateWebhook(t.Context(), w.Ben,
					webhooks.NewWebhook{
						URL:        "https://example.org/hook",
						EventKinds: []webhooks.EventKind{webhooks.RecordTaken},
					}))
				sent := func() int {
					return len(modelstest.Got[[]webhooks.Delivery](t)(s.Webhooks.WebhookDeliveries(t.Context(), w.Ben, hook.ID, 0, 10)))
				}
				w.Score(t, s, w.Ben, 900)
				if before := slices.Concat(notices(t, s, w.Ann), notices(t, s, w.Ben)); len(before) > 0 {
					t.Errorf("before the confirmation they read %q", before)
				}
				if n := sent(); n > 0 {
					t.Errorf("%d messages are sent before the confirmation", n)
				}
				for _, ns := range test.turns {
					measureTurn(t, s, ns, "gpu0")
				}
				on := w.Task.Title + " on CPU."
				for who, want := range map[*accounts.User]string{&w.Ann: test.ann, &w.Ben: test.ben} {
					got := notices(t, s, *who)
					if want == "" && len(got) > 0 || want != "" && !slices.Equal(got, []string{want + on}) {
						t.Errorf("%s reads %q, want %q", who.Name, got, want)
					}
				}
				if n := sent(); n != test.records {
					t.Errorf("%d messages about the record are sent, want %d", n, test.records)
				}
			})
		})
	}
}
