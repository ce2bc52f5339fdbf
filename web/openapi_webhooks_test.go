package web

import (
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
)

func TestMessagesToWebhooksAreWhatTheDocumentSays(t *testing.T) {
	s := newEvalSite(t)
	hook := s.hook()
	task := modelstest.Task(t, s.site.Store, modelstest.Person(t, s.site.Store, "creator", accounts.RoleCreator), "sort", "CPU")
	for _, who := range []accounts.User{s.user, modelstest.Person(t, s.site.Store, "grace", accounts.RoleUser), s.user} {
		modelstest.Finish(t, s.site.Store, modelstest.Submit(t, s.site.Store, who, task)[0], float64(9000-who.ID*1000))
	}
	if _, err := s.site.Store.Webhooks.SpreadEvents(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, answer := s.ask("GET", hook+"/deliveries", nil)
	is, seen := s.documented(t), map[string]bool{}
	for _, delivery := range answer["deliveries"].([]any) {
		message := delivery.(object)["body"].(object)
		is("WebhookMessage", message)
		if kind := message["type"].(string); kind != "test" {
			seen[kind] = true
			is("EndedRun", message["data"])
			if o, ok := message["data"].(object)["outcome"].(object); !ok || o["rank"] == nil {
				t.Errorf("%s says of its place %v", kind, message["data"])
			}
		}
	}
	if !seen["run.ended"] || !seen["record.taken"] {
		t.Errorf("only %v was tried", seen)
	}
}
