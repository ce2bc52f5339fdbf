package membership_test

import (
	"strings"
	"testing"

	"warpboard/models"
	"warpboard/models/accounts"
	"warpboard/models/membership"
	"warpboard/models/modelstest"
	"warpboard/models/webhooks"
)

// TestAMembersWebhookNamesWhoIsNext checks that a member's webhook names the next entry, which the member sees on the
// board, and that webhooks of the site omit it, because they may post to public places.
func TestAMembersWebhookNamesWhoIsNext(t *testing.T) {
	modelstest.Each(t, func(t *testing.T, s *models.Store) {
		c := newMembersTask(t, s)
		admin := modelstest.Person(t, s, "root", accounts.RoleAdmin)
		for _, who := range []accounts.User{c.ann, c.b} {
			modelstest.Check(t, modelstest.Second(c.Members.Join(t.Context(), who.ID,
				c.code(membership.NewInvite{MaxPeople: 1}))))
		}
		hook := func(of accounts.User, site bool) webhooks.Webhook {
			t.Helper()
			return modelstest.Got[webhooks.Webhook](t)(s.Webhooks.CreateWebhook(t.Context(), of,
				webhooks.NewWebhook{
					URL:          "https://example.org",
					EventKinds:   webhooks.PersonalKinds()[:2],
					ForWholeSite: site,
				}))
		}
		anns, sites := hook(c.ann, false), hook(admin, true)
		modelstest.Finish(t, s, modelstest.Submit(t, s, c.now(c.b), c.task)[0], 2000)
		modelstest.Finish(t, s, modelstest.Submit(t, s, c.now(c.ann), c.task)[0], 3000)
		check := func() (ann, site string) {
			t.Helper()
			_, err := s.Webhooks.CreateDeliveries(t.Context())
			modelstest.Check(t, err)
			for _, d := range modelstest.Got[[]webhooks.Delivery](t)(s.Webhooks.WebhookDeliveries(t.Context(), c.ann,
				anns.ID, 0, 20)) {
				ann += d.Body
			}
			for _, d := range modelstest.Got[[]webhooks.Delivery](t)(s.Webhooks.WebhookDeliveries(t.Context(), admin,
				sites.ID, 0, 20)) {
				site += d.Body
			}
			return ann, site
		}
		const next = `"next_user":"b"`
		ann, site := check()
		if !strings.Contains(ann, next) || !strings.Contains(site, `"outcome"`) || strings.Contains(site, next) {
			t.Errorf("a member reads %s\nthe site's webhook %s", ann, site)
		}
		late := modelstest.Submit(t, s, c.now(c.ann), c.task)[0]
		modelstest.Check(t, c.Members.Remove(t.Context(), c.author, c.task.ID, c.ann.ID))
		modelstest.Finish(t, s, late, 2500)
		if after, _ := check(); strings.Count(after, next) != strings.Count(ann, next) {
			t.Errorf("who was removed reads %s", after)
		}
	})
}
