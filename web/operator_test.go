package web_test

import (
	"net/http"
	"strings"
	"testing"

	"warpboard/models/accounts"
	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

func TestMetricsAreForTheOperator(t *testing.T) {
	store := modelstest.Open(t)
	tokens := map[string]string{"": "", "operator": "the operator's secret", "wrong": "another secret"}
	for name, role := range map[string]accounts.Role{"user": accounts.RoleUser, "creator": accounts.RoleCreator,
		"admin": accounts.RoleAdmin} {
		person := modelstest.Person(t, store, name, role)
		secret, _, err := store.Accounts.CreateToken(t.Context(), person.ID, "test", 0)
		if err != nil {
			t.Fatal(err)
		}
		tokens[name] = secret
	}
	addresses := func(texts ...string) func(*web.Config) {
		return func(c *web.Config) {
			var err error
			if c.MetricsNetworks, err = web.ParseAddresses(texts); err != nil {
				t.Fatal(err)
			}
			c.MetricsToken = tokens["operator"]
		}
	}
	byItself := webtest.StartAt(t, "127.0.0.1:0", store)
	public := webtest.StartAt(t, "127.0.0.1:0", store, func(c *web.Config) { c.BaseURL = "https://boards.example.org" })
	local := webtest.StartAt(t, "127.0.0.1:0", store, addresses("10.0.0.0/8", "127.0.0.1"),
		func(c *web.Config) { c.BaseURL = "https://boards.example.org" })
	away := webtest.StartAt(t, "127.0.0.1:0", store, addresses("10.0.0.7"))

	const mark = "X-Forwarded-For: 203.0.113.9"
	tests := []struct {
		name   string
		site   *webtest.Site
		header string
		token  string
		want   int
	}{
		{"a scraper on the machine", byItself, "", "", http.StatusOK},
		{"a stranger through a proxy on the machine", byItself, mark, "", http.StatusUnauthorized},
		{"a page of a rebound name", byItself, "Host: evil.example.org", "", http.StatusUnauthorized},
		{"a stranger through a proxy that leaves no mark", public, "", "", http.StatusUnauthorized},
		{"an admin through a proxy", public, mark, "admin", http.StatusOK},
		{"an allowed address", local, "", "", http.StatusOK},
		{"an allowed proxy", local, mark, "", http.StatusUnauthorized},
		{"another address", away, "", "", http.StatusUnauthorized},
		{"the operator's token", away, mark, "operator", http.StatusOK},
		{"a wrong token", away, "", "wrong", http.StatusUnauthorized},
		{"a user", away, "", "user", http.StatusForbidden},
		{"a creator", away, "", "creator", http.StatusForbidden},
		{"an admin", away, "", "admin", http.StatusOK},
	}
	for _, path := range []string{"/metrics", "/stats", "/api/v1/evaluations/stats"} {
		for _, test := range tests {
			t.Run(path+" "+test.name, func(t *testing.T) {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, test.site.URL+path, nil)
				if err != nil {
					t.Fatal(err)
				}
				if name, value, ok := strings.Cut(test.header, ": "); name == "Host" {
					req.Host = value
				} else if ok {
					req.Header.Set(name, value)
				}
				if test.token != "" {
					req.Header.Set("Authorization", "Bearer "+tokens[test.token])
				}
				resp, err := http.DefaultClient.Do(req)
				if err != nil {
					t.Fatal(err)
				}
				defer resp.Body.Close()
				webtest.WantStatus(t, resp, test.want)
			})
		}
	}
}

func TestInvalidAddressesAreRefused(t *testing.T) {
	for _, text := range []string{"", "all", "10.0.0.0/33", "10.0.0.256", "example.org"} {
		if list, err := web.ParseAddresses([]string{text}); err == nil || !strings.Contains(err.Error(), "10.0.0.0/8") {
			t.Errorf("%q is %v, %v", text, list, err)
		}
	}
}
