package signin

import (
	"context"
	"fmt"
	"net/url"

	"github.com/markbates/goth"
)

// gothProvider is a provider of the goth library. goth uses neither PKCE nor a nonce: only the state connects a
// callback to its browser.
type gothProvider struct {
	name string
	goth goth.Provider
}

func (o gothProvider) begin(_ context.Context, f oauthState) (string, error) {
	session, err := o.goth.BeginAuth(f.State)
	if err != nil {
		return "", err
	}
	return session.GetAuthURL()
}

func (o gothProvider) complete(_ context.Context, f oauthState, code string) (who providerPerson, err error) {
	defer func() { // goth parses answers without checking for missing parts
		if r := recover(); r != nil {
			err = fmt.Errorf("the provider's answer is malformed: %v", r)
		}
	}()
	session, err := o.goth.BeginAuth(f.State)
	if err != nil {
		return providerPerson{}, err
	}
	// goth would use other parameters of the callback too, such as redirect_uri, so only code and state are passed.
	if _, err := session.Authorize(o.goth, url.Values{"code": {code}, "state": {f.State}}); err != nil {
		return providerPerson{}, err
	}
	u, err := o.goth.FetchUser(session)
	if err != nil {
		return providerPerson{}, err
	}
	return o.personOf(u)
}

func (o gothProvider) personOf(u goth.User) (providerPerson, error) {
	if u.UserID == "" {
		return providerPerson{}, fmt.Errorf("%s did not say who signed in", o.name)
	}
	who := providerPerson{provider: o.name, subject: u.UserID, login: u.NickName, name: u.Name}
	if o.name == "google" {
		who.login = "" // goth returns the display name as NickName, which people can choose freely
	}
	if o.isEmailVerified(u) {
		who.email = u.Email
	}
	return who, nil
}

func (o gothProvider) isEmailVerified(u goth.User) bool {
	claim := map[string]string{"google": "verified_email", "discord": "verified"}[o.name]
	switch o.name {
	case "github":
		return true // GitHub shows and returns only verified addresses
	case "gitlab":
		at, _ := u.RawData["confirmed_at"].(string)
		return at != ""
	}
	ok, _ := u.RawData[claim].(bool)
	return ok
}
