package account_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

// TestPeopleManageTheirWebhooksAndAdminsTheSites checks that people can manage their own webhooks, and admins those of
// the site, with only the pages.
func TestPeopleManageTheirWebhooksAndAdminsTheSites(t *testing.T) {
	s := webtest.NewScene(t)
	admin, ada := s.BrowserOf(s.Admin), s.BrowserOf(s.Ada)
	form := url.Values{"of": {"mine"}, "url": {"https://example.org/hook"}, "events": {"run.ended", "record.taken"}}
	made := webtest.Body(t, ada.Post("/webhooks", form))
	secret, page := regexp.MustCompile(`whsec_[\w+/=]+`).FindString(made),
		regexp.MustCompile(`/webhooks/\d+`).FindString(made)
	if secret == "" || page == "" || strings.Contains(made, "The site") && strings.Contains(made, `value="site"`) {
		t.Fatalf("no webhook was made, or more is shown than is ada's:\n%s", made)
	}
	if text := webtest.Body(t, ada.Get("/webhooks")); strings.Contains(text, secret) || !strings.Contains(text, page) {
		t.Error("the secret is shown again, or the webhook is not listed")
	}
	for what, wrong := range map[string]url.Values{
		"no TLS": {"url": {"http://example.org"}}, "a password": {"url": {"https://a:b@example.org"}},
		"the site's":           {"of": {"site"}},
		"an event of the site": {"events": {"worker.lost"}}, "no event": {"events": nil},
		"no address": {"url": {"javascript:x"}},
	} {
		changed := url.Values{"of": form["of"], "url": form["url"], "events": form["events"]}
		for key, values := range wrong {
			changed[key] = values
		}
		if resp := ada.Post("/webhooks", changed); resp.StatusCode != http.StatusUnprocessableEntity &&
			resp.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s", what, resp.Status)
		}
	}
	webtest.WantStatus(t, ada.Post(page+"/test", nil), http.StatusOK)
	again := regexp.MustCompile(page + `/deliveries/\d+`).FindString(webtest.Body(t, ada.Get(page)))
	webtest.WantStatus(t, ada.Post(again, nil), http.StatusOK)
	site := s.Webhook()
	for _, path := range []string{site, site + "/test", site + "/delete", site + "/enable"} {
		if path != site {
			webtest.WantStatus(t, ada.Post(path, nil), http.StatusNotFound)
		}
		webtest.WantStatus(t, ada.Get(site), http.StatusNotFound)
	}
	if text := webtest.Body(t, admin.Get(site)); !strings.Contains(text, "the receiver answered 503") ||
		!strings.Contains(text, "delivered") {
		t.Errorf("the log does not say how it went:\n%s", text)
	}
	webtest.WantStatus(t, admin.Post(site+"/delete", nil), http.StatusOK)
	if text := webtest.Body(t, admin.Get("/audit")); !strings.Contains(text, "delete webhook") ||
		strings.Contains(text, "hooks.example.org/warpboard") {
		t.Error("the audit log does not name it, or tells its address")
	}
	for range 4 {
		webtest.WantStatus(t, ada.Post("/webhooks", form), http.StatusOK)
	}
	webtest.WantStatus(t, ada.Post("/webhooks", form), http.StatusConflict)
	webtest.WantStatus(t, ada.Post(page+"/delete", nil), http.StatusOK)
	webtest.WantStatus(t, ada.Get(page), http.StatusNotFound)
}

// TestTheAPIManagesWebhooks checks that the answers of the API about webhooks conform to the OpenAPI document.
func TestTheAPIManagesWebhooks(t *testing.T) {
	s := webtest.NewScene(t)
	is := s.Documented(t)
	ada, bob := tokenOf(s.Site, t, s.Ada), tokenOf(s.Site, t, s.Admin)
	made := ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","events":["run.ended"]}`,
		http.StatusCreated).(map[string]any)
	is("Webhook", made)
	if secret, _ := made["secret"].(string); !strings.HasPrefix(secret, "whsec_") {
		t.Errorf("made: %v", made)
	}
	path := fmt.Sprintf("/api/v1/webhooks/%v", made["id"])
	ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","event":["run.ended"]}`,
		http.StatusUnprocessableEntity)
	ada("POST", "/api/v1/webhooks", `{"url":"https://example.org/h","events":["run.ended"],"site":true}`,
		http.StatusForbidden)
	ada("GET", "/api/v1/webhooks?site=1", "", http.StatusForbidden)
	ada("POST", path+"/test", "", http.StatusNoContent)
	s.Finish(s.Submit(s.Ada, "H200", webtest.GoodKernel), 9e3)
	s.Happens()
	list := ada("GET", path+"/deliveries", "", http.StatusOK).(map[string]any)["deliveries"].([]any)
	if len(list) != 2 || list[0].(map[string]any)["event"] != "run.ended" ||
		list[1].(map[string]any)["event"] != "test" {
		t.Fatalf("deliveries: %v", list)
	}
	is("Delivery", list[0])
	again := fmt.Sprintf("%s/deliveries/%v/redeliver", path, list[0].(map[string]any)["id"])
	is("Delivery", ada("POST", again, "", http.StatusOK))
	if hooks := bob("GET", "/api/v1/webhooks", "",
		http.StatusOK).(map[string]any)["webhooks"].([]any); len(hooks) != 0 {
		t.Errorf("someone else sees %v", hooks)
	}
	webtest.WantStatus(t, s.Browser().Get("/api/v1/webhooks"), http.StatusUnauthorized)
	ada("DELETE", path, "", http.StatusNoContent)
	ada("GET", path+"/deliveries", "", http.StatusNotFound)
}

// asking is a function that sends a JSON request with a person's token and returns the decoded answer.
type asking func(method, path, body string, status int) any

func tokenOf(s *webtest.Site, t *testing.T, user accounts.User) asking {
	t.Helper()
	token, _, err := s.Cfg.Store.Accounts.CreateToken(t.Context(), user.ID, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	b := s.Browser()
	return func(method, path, text string, status int) (answer any) {
		t.Helper()
		resp := b.Send(method, path, strings.NewReader(text), "Authorization", "Bearer "+token, "Content-Type",
			"application/json")
		got := webtest.Body(t, resp)
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

// TestAWebhookInsideIsRefusedWhenItIsSet checks that a URL with a private address is refused when the webhook is
// created, and not only when its deliveries fail.
func TestAWebhookInsideIsRefusedWhenItIsSet(t *testing.T) {
	s := webtest.NewEvalSite(t)
	for _, address := range []string{"127.0.0.1", "10.0.0.8", "192.168.1.1:8443", "169.254.169.254", "[::1]",
		"[fd00::1]", "[::ffff:10.0.0.1]", "[fe80::1%25eth0]",
		"localhost", "Hooks.Localhost.", "127.1", "2130706433", "0x7f000001", "017700000001", "127.0.0.1.",
		"8.8.8.8:25"} {
		resp, answer := s.Ask("POST", "/api/v1/webhooks",
			webtest.Object{"url": "https://" + address + "/hook", "events": []string{"run.ended"}})
		if resp.StatusCode != 422 || !strings.Contains(fmt.Sprint(answer["detail"]), "public addresses") {
			t.Errorf("%s: %s %v", address, resp.Status, answer)
		}
	}
	for _, address := range []string{"8.8.8.8:8443", "[2606:4700::1111]", "example.org", "127.0.0.1.example.org"} {
		if resp, answer := s.Ask("POST", "/api/v1/webhooks",
			webtest.Object{"url": "https://" + address + "/hook",
				"events": []string{"run.ended"}}); resp.StatusCode != 201 {
			t.Errorf("%s: %s %v", address, resp.Status, answer)
		}
	}
}
