package api_test

import (
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web/webtest"
)

func TestMessagesToWebhooksAreWhatTheDocumentSays(t *testing.T) {
	s := webtest.NewEvalSite(t)
	hook := hookedTo(s)
	task := modelstest.Task(t, s.Cfg.Store, modelstest.Person(t, s.Cfg.Store, "creator", accounts.RoleCreator), "sort",
		"CPU")
	for _, who := range []accounts.User{s.User, modelstest.Person(t, s.Cfg.Store, "grace", accounts.RoleUser), s.User} {
		modelstest.Finish(t, s.Cfg.Store, modelstest.Submit(t, s.Cfg.Store, who, task)[0], float64(9000-who.ID*1000))
	}
	if _, err := s.Cfg.Store.Webhooks.CreateDeliveries(t.Context()); err != nil {
		t.Fatal(err)
	}
	_, answer := s.Ask("GET", hook+"/deliveries", nil)
	is, seen := s.Documented(t), map[string]bool{}
	for _, delivery := range answer["deliveries"].([]any) {
		message := delivery.(webtest.Object)["body"].(webtest.Object)
		is("WebhookMessage", message)
		if kind := message["type"].(string); kind != "test" {
			seen[kind] = true
			is("EndedRun", message["data"])
			if o, ok := message["data"].(webtest.Object)["outcome"].(webtest.Object); !ok || o["rank"] == nil {
				t.Errorf("%s says of its place %v", kind, message["data"])
			}
		}
	}
	if !seen["run.ended"] || !seen["record.taken"] {
		t.Errorf("only %v was tried", seen)
	}
}
