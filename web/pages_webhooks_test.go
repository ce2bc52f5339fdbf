package web

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"warpboard/models/accounts"
	"warpboard/models/webhooks"
)

// webhook makes a webhook of the site with a log, and returns the address of its page.
func (s *scene) webhook() string {
	s.t.Helper()
	hook, err := s.site.Store.Webhooks.CreateWebhook(s.t.Context(), s.admin, webhooks.NewWebhook{Site: true, URL: "https://hooks.example.org/warpboard", Events: webhooks.OfSite()})
	if err != nil {
		s.t.Fatal(err)
	}
	answers := []webhooks.Tried{{Status: 204}, {Status: 503, Problem: "the receiver answered 503"}, {Problem: "no answer within 10 s"}}
	for range answers {
		if err := s.site.Store.Webhooks.TestWebhook(s.t.Context(), s.admin, hook.ID); err != nil {
			s.t.Fatal(err)
		}
	}
	due, err := s.site.Store.Webhooks.DueDeliveries(s.t.Context(), time.Now(), nil, 10, 10)
	if err != nil {
		s.t.Fatal(err)
	}
	for i, d := range due {
		answers[i%len(answers)].At = time.Now()
		if err := s.site.Store.Webhooks.EndTry(s.t.Context(), d, answers[i%len(answers)]); err != nil {
			s.t.Fatal(err)
		}
	}
	return fmt.Sprintf("/webhooks/%d", hook.ID)
}

// TestPeopleManageTheirWebhooksAndAdminsTheSites through the pages alone.
func TestPeopleManageTheirWebhooksAndAdminsTheSites(t *testing.T) {
	s := newScene(t)
	admin, ada := s.browserOf(s.admin), s.browserOf(s.ada)
	form := url.Values{"of": {"mine"}, "url": {"https://example.org/hook"}, "events": {"run.ended", "record.taken"}}
	made := body(t, ada.post("/webhooks", form))
	secret, page := regexp.MustCompile(`whsec_[\w+/=]+`).FindString(made), regexp.MustCompile(`/webhooks/\d+`).FindString(made)
	if secret == "" || page == "" || strings.Contains(made, "The site") && strings.Contains(made, `value="site"`) {
		t.Fatalf("no webhook was made, or more is shown than is ada's:\n%s", made)
	}
	if text := body(t, ada.get("/webhooks")); strings.Contains(text, secret) || !strings.Contains(text, page) {
		t.Error("the secret is shown again, or the webhook is not listed")
	}
	for what, wrong := range map[string]url.Values{
		"no TLS": {"url": {"http://example.org"}}, "a password": {"url": {"https://a:b@example.org"}}, "the site's": {"of": {"site"}},
		"an event of the site": {"events": {"worker.lost"}}, "no event": {"events": nil}, "no address": {"url": {"javascript:x"}},
	} {
		changed := url.Values{"of": form["of"], "url": form["url"], "events": form["events"]}
		for key, values := range wrong {
			changed[key] = values
		}
		if resp := ada.post("/webhooks", changed); resp.StatusCode != http.StatusUnprocessableEntity && resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", what, resp.Status)
		}
	}
	wantStatus(t, ada.post(page+"/test", nil), http.StatusOK)
	again := regexp.MustCompile(page + `/deliveries/\d+`).FindString(body(t, ada.get(page)))
	wantStatus(t, ada.post(again, nil), http.StatusOK)
	site := s.webhook()
	for _, path := range []string{site, site + "/test", site + "/delete", site + "/enable"} {
		if path != site {
			wantStatus(t, ada.post(path, nil), http.StatusNotFound)
		}
		wantStatus(t, ada.get(site), http.StatusNotFound)
	}
	if text := body(t, admin.get(site)); !strings.Contains(text, "the receiver answered 503") || !strings.Contains(text, "delivered") {
		t.Errorf("the log does not say how it went:\n%s", text)
	}
	wantStatus(t, admin.post(site+"/delete", nil), http.StatusOK)
	if text := body(t, admin.get("/audit")); !strings.Contains(text, "delete webhook") || strings.Contains(text, "hooks.example.org/warpboard") {
		t.Error("the audit log does not name it, or tells its address")
	}
	for range 4 {
		wantStatus(t, ada.post("/webhooks", form), http.StatusOK)
	}
	wantStatus(t, ada.post("/webhooks", form), http.StatusConflict)
	wantStatus(t, ada.post(page+"/delete", nil), http.StatusOK)
	wantStatus(t, ada.get(page), http.StatusNotFound)
}

// TestTheAPIManagesWebhooks as its document says.
func TestTheAPIManagesWebhooks(t *testing.T) {
	s := newScene(t)
	is := s.documented(t)
	ada, bob := s.tokenOf(t, s.ada), s.tokenOf(t, s.admin)
	made := ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","events":["run.ended"]}`, http.StatusCreated).(map[string]any)
	is("Webhook", made)
	if secret, _ := made["secret"].(string); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("made: %v", made)
	}
	path := fmt.Sprintf("/api/v1/webhooks/%v", made["id"])
	ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","event":["run.ended"]}`, http.StatusUnprocessableEntity)
	ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","events":["run.ended"],"site":true}`, http.StatusForbidden)
	ada("GET", "/api/v1/webhooks?site=1", "", http.StatusForbidden)
	ada("POST", path+"/test", "", http.StatusNoContent)
	s.finish(s.submit(s.ada, "H200", goodKernel), 9e3)
	s.happens()
	list := ada("GET", path+"/deliveries", "", http.StatusOK).(map[string]any)["deliveries"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["event"] != "run.ended" || list[1].(map[string]any)["event"] != "test" {
		t.Fatalf("deliveries: %v", list)
	}
	is("Delivery", list[0])
	again := fmt.Sprintf("%s/deliveries/%v/redeliver", path, list[0].(map[string]any)["id"])
	is("Delivery", ada("POST", again, "", http.StatusOK))
	if hooks := bob("GET", "/api/v1/webhooks", "", http.StatusOK).(map[string]any)["webhooks"].([]any); len(hooks) != 0 {
		t.Errorf("someone else sees %v", hooks)
	}
	wantStatus(t, s.browser().get("/api/v1/webhooks"), http.StatusUnauthorized)
	ada("DELETE", path, "", http.StatusNoContent)
	ada("GET", path+"/deliveries", "", http.StatusNotFound)
}

// asking sends JSON with a fresh token of the person, and reads the answer.
type asking func(method, path, body string, status int) any

func (s *testSite) tokenOf(t *testing.T, user accounts.User) asking {
	t.Helper()
	token, _, err := s.site.Store.Accounts.CreateToken(t.Context(), user.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	b := s.browser()
	return func(method, path, text string, status int) (answer any) {
		t.Helper()
		resp := b.send(method, path, strings.NewReader(text), "Authorization", "Bearer "+token, "Content-Type", "application/json")
		got := body(t, resp)
		if resp.StatusCode != status {
			t.Fatalf("%s %s: %s, want %d: %s", method, path, resp.Status, status, got)
		}
		if got != "" {
			if err := json.Unmarshal([]byte(got), &answer); err != nil {
				t.Fatal(err)
			}
		}
		return answer
	}
}

// TestAWebhookInsideIsRefusedWhenItIsSet: its owner reads why at once, and not in the log of deliveries that all fail.
func TestAWebhookInsideIsRefusedWhenItIsSet(t *testing.T) {
	s := newEvalSite(t)
	for _, address := range []string{"127.0.0.1", "10.0.0.8", "192.168.1.1:8443", "169.254.169.254", "[::1]", "[fd00::1]", "[::ffff:10.0.0.1]", "[fe80::1%25eth0]",
		"localhost", "Hooks.Localhost.", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1.", "8.8.8.8:25"} {
		resp, answer := s.ask("POST", "/api/v1/webhooks", object{"url": "https://" + address + "/hook", "events": []string{"run.ended"}})
		if resp.StatusCode != 422 || !strings.Contains(fmt.Sprint(answer["detail"]), "public addresses") {
			t.Errorf("%s: %s %v", address, resp.Status, answer)
		}
	}
	for _, address := range []string{"8.8.8.8:8443", "[2606:4700::1111]", "example.org", "127.0.0.1.example.org"} {
		if resp, answer := s.ask("POST", "/api/v1/webhooks", object{"url": "https://" + address + "/hook", "events": []string{"run.ended"}}); resp.StatusCode != 201 {
			t.Errorf("%s: %s %v", address, resp.Status, answer)
		}
	}
}
