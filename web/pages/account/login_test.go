package account_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"warpboard/clients/go"
	"warpboard/models/accounts"
	"warpboard/web/webtest"
)

func TestACommandLineIsSignedInByACodeThatAPersonApproves(t *testing.T) {
	s := webtest.Start(t)
	command := s.API(accounts.User{})
	login, err := command.BeginLogin(t.Context(), "laptop <b>")
	if err != nil {
		t.Fatal(err)
	}
	if answer, err := command.EndLogin(t.Context(), login.Secret); err != nil || answer.Token != "" {
		t.Fatalf("before anybody has answered: %+v, %v", answer, err)
	}
	if resp := s.Browser().Post("/login",
		url.Values{"code": {login.Code}, "answer": {"yes"}}); resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("a visitor's yes was answered with %s", resp.Status)
	}
	ada := s.SignedIn("ada", accounts.RoleUser)
	page := ada.Page("/login?code="+login.Code, http.StatusOK)
	webtest.WantText(t, page, "[data-code]", login.Code)
	webtest.WantText(t, page, "dl", "laptop <b>")
	typed := strings.ToLower(strings.ReplaceAll(login.Code, "-", " "))
	webtest.WantStatus(t, ada.Post("/login", url.Values{"code": {typed}, "answer": {"yes"}}), http.StatusOK)
	// The code has been used, so it is invalid now.
	if typed := ada.Page("/login?code="+login.Code, http.StatusNotFound).Find("#code").AttrOr("value",
		""); typed != login.Code {
		t.Errorf("the field of a code that is not taken says %q", typed)
	}

	answer, err := command.EndLogin(t.Context(), login.Secret)
	if err != nil || answer.User == nil || answer.User.Name != "ada" {
		t.Fatalf("%+v, %v", answer, err)
	}
	if me, err := client.New(s.URL, answer.Token).CurrentUser(t.Context()); err != nil || me.ID != answer.User.ID {
		t.Errorf("the token is %+v's, %v", me, err)
	}
	if _, err := command.EndLogin(t.Context(), login.Secret); webtest.Code(err) != "not_found" {
		t.Errorf("the token came twice: %v", err)
	}
}

func TestACommandLineThatIsRefusedGetsNothing(t *testing.T) {
	s := webtest.Start(t)
	command := s.API(accounts.User{})
	login, err := command.BeginLogin(t.Context(), "laptop")
	if err != nil {
		t.Fatal(err)
	}
	ada := s.SignedIn("ada", accounts.RoleUser)
	webtest.WantStatus(t, ada.Post("/login", url.Values{"code": {login.Code}, "answer": {"no"}}), http.StatusOK)
	webtest.WantStatus(t, ada.Post("/login", url.Values{"code": {login.Code}, "answer": {"yes"}}), http.StatusNotFound)
	if _, err := command.EndLogin(t.Context(), login.Secret); webtest.Code(err) != "forbidden" {
		t.Errorf("%v", err)
	}
	for range 40 { // one IP address can start only a few sign-ins
		if _, err = command.BeginLogin(t.Context(), "x"); err != nil {
			break
		}
	}
	if webtest.Code(err) != "too_many" {
		t.Errorf("40 command lines of one address wait: %v", err)
	}
}

// TestOneCustomerWithIPv6LetsOthersSignIn checks that one customer's IPv6 prefix (a /56 or /48, with very many
// addresses) cannot use up the sign-ins of all others.
func TestOneCustomerWithIPv6LetsOthersSignIn(t *testing.T) {
	s := webtest.Start(t)
	begin := func(visitor string) int {
		return s.Browser().Send("POST", "/api/v1/login", strings.NewReader(`{"host":"x"}`), "Content-Type",
			"application/json", "X-Forwarded-For", visitor).StatusCode
	}
	// of the same /56
	for network, want := range []int{http.StatusCreated, http.StatusCreated, http.StatusTooManyRequests} {
		for range 20 {
			if got := begin(fmt.Sprintf("2001:db8:0:%x::1", network)); got != want {
				t.Fatalf("a command line of network %d: %d, want %d", network, got, want)
			}
		}
	}
	for _, other := range []string{"2001:db8:0:ffff::1", "2001:db9::1", "203.0.113.9"} {
		if got := begin(other); got != http.StatusCreated {
			t.Errorf("a command line of %s: %d", other, got)
		}
	}
}
