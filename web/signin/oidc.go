package signin

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"warpboard/web/conns"
	"warpboard/web/site"
)

// oidcIssuer is an OpenID Connect provider with a URL. Its endpoints and keys are requested at the first sign-in, so
// that the site can start while the provider is down.
type oidcIssuer struct {
	cfg         ProviderConfig
	callbackURL string
	client      *http.Client

	mu       sync.Mutex
	provider *oidc.Provider
}

func newIssuer(cfg ProviderConfig, callback string, client *http.Client) (*oidcIssuer, error) {
	u, err := url.Parse(cfg.Issuer)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("OpenID Connect issuer %q: want a URL like https://id.example.org", cfg.Issuer)
	}
	if u.Scheme != "https" && !conns.IsLoopback(u.Host) {
		return nil, fmt.Errorf("OpenID Connect issuer %q: must be https", cfg.Issuer)
	}
	return &oidcIssuer{cfg: cfg, callbackURL: callback, client: client}, nil
}

// discover requests the issuer's OpenID configuration, unless an earlier request succeeded. It tries the issuer's URL
// with and without a trailing slash, because operators often write the other form.
func (i *oidcIssuer) discover(ctx context.Context) (*oidc.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.provider != nil {
		return i.provider, nil
	}
	bare := strings.TrimSuffix(i.cfg.Issuer, "/")
	found, err := oidc.NewProvider(ctx, bare)
	if err != nil {
		var again error
		if found, again = oidc.NewProvider(ctx, bare+"/"); again != nil {
			return nil, fmt.Errorf("discover OpenID Connect issuer %s: %w", bare, err)
		}
	}
	if at := found.Endpoint(); at.AuthURL == "" || at.TokenURL == "" {
		return nil, fmt.Errorf("OpenID Connect issuer %s: its description lacks authorization_endpoint or token_endpoint", bare)
	}
	i.provider = found
	return found, nil
}

func (i *oidcIssuer) config(at oauth2.Endpoint) *oauth2.Config {
	return &oauth2.Config{ClientID: i.cfg.ClientID, ClientSecret: i.cfg.ClientSecret, Endpoint: at,
		RedirectURL: i.callbackURL,
		Scopes:      []string{oidc.ScopeOpenID, "profile", "email"}}
}

func (i *oidcIssuer) begin(ctx context.Context, f oauthState) (string, error) {
	p, err := i.discover(oidc.ClientContext(ctx, i.client))
	if err != nil {
		return "", err
	}
	return i.config(p.Endpoint()).AuthCodeURL(f.State, oidc.Nonce(f.Nonce), oauth2.S256ChallengeOption(f.Verifier)), nil
}

// complete checks the ID token (its signature, audience, and nonce) and requests the user info of the same subject.
func (i *oidcIssuer) complete(ctx context.Context, f oauthState, code string) (providerPerson, error) {
	ctx = oidc.ClientContext(ctx, i.client)
	p, err := i.discover(ctx)
	if err != nil {
		return providerPerson{}, err
	}
	token, err := i.config(p.Endpoint()).Exchange(ctx, code, oauth2.VerifierOption(f.Verifier))
	if err != nil {
		return providerPerson{}, err
	}
	raw, _ := token.Extra("id_token").(string)
	id, err := p.Verifier(&oidc.Config{ClientID: i.cfg.ClientID}).Verify(ctx, raw)
	if err != nil {
		return providerPerson{}, err
	}
	claims := map[string]any{}
	switch err := id.Claims(&claims); {
	case err != nil:
		return providerPerson{}, err
	case !site.EqualSecrets(f.Nonce, id.Nonce):
		return providerPerson{}, errors.New("the id token belongs to another sign-in (nonce)")
	case id.Subject == "":
		return providerPerson{}, errors.New("the id token does not say who signed in (sub)")
	}
	if p.UserInfoEndpoint() != "" {
		info, err := p.UserInfo(ctx, oauth2.StaticTokenSource(token))
		if err != nil {
			return providerPerson{}, err
		}
		if info.Subject != id.Subject {
			return providerPerson{}, errors.New("the issuer's userinfo belongs to another person")
		}
		if err := info.Claims(&claims); err != nil {
			return providerPerson{}, err
		}
	}
	return i.personOf(id.Subject, claims), nil
}

// personOf converts the claims of a subject. The login is preferred_username; "nickname" can be chosen freely by the
// user.
func (i *oidcIssuer) personOf(subject string, claims map[string]any) providerPerson {
	text := func(claim string) string { s, _ := claims[claim].(string); return s }
	who := providerPerson{provider: i.cfg.Name, subject: subject, login: text("preferred_username"), name: text("name")}
	if verified, _ := claims["email_verified"].(bool); verified {
		who.email = text("email")
	}
	return who
}
