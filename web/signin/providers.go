package signin

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"github.com/markbates/goth"
	"github.com/markbates/goth/providers/discord"
	"github.com/markbates/goth/providers/github"
	"github.com/markbates/goth/providers/gitlab"
	"github.com/markbates/goth/providers/google"

	"warpboard/web/site"
)

// ProviderConfig configures one sign-in provider.
type ProviderConfig struct {
	Name         string // "github", "google", "discord", "gitlab" or "oidc"
	ClientID     string // the client id that the provider gave
	ClientSecret string // the client secret
	Issuer       string // oidc: the issuer's URL; gitlab: the server's URL when it is not gitlab.com
	Label        string // text of the button; empty: the provider's own name
}

// provider is a sign-in provider.
type provider struct {
	Name, Label string
	signInProtocol
}

// signInProtocol redirects a browser to a provider and handles the callback.
type signInProtocol interface {
	// begin returns the URL of the provider's sign-in page.
	begin(ctx context.Context, f oauthState) (string, error)
	// complete exchanges the code of a callback for the person who signed in.
	complete(ctx context.Context, f oauthState, code string) (providerPerson, error)
}

// newProviders checks the configuration of the providers. It does not connect to them.
func newProviders(configs []ProviderConfig, baseURL string) ([]*provider, error) {
	var all []*provider
	for _, cfg := range configs {
		p, err := newProvider(cfg, baseURL+"/auth/"+cfg.Name+"/callback")
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

func newProvider(cfg ProviderConfig, callback string) (*provider, error) {
	if cfg.ClientID == "" || cfg.ClientSecret == "" {
		return nil, fmt.Errorf("sign-in with %s needs both its client id and its client secret", cfg.Name)
	}
	p := &provider{Name: cfg.Name, Label: cfg.Label}
	// The timeout keeps a provider that does not respond from blocking requests.
	web := &http.Client{Timeout: 10 * time.Second}
	switch cfg.Name {
	case "github":
		g := github.New(cfg.ClientID, cfg.ClientSecret, callback, "read:user", "user:email")
		g.HTTPClient = web
		p.configure("GitHub", g)
	case "google":
		g := google.New(cfg.ClientID, cfg.ClientSecret, callback, "openid", "email", "profile")
		g.HTTPClient = web
		p.configure("Google", g)
	case "discord":
		g := discord.New(cfg.ClientID, cfg.ClientSecret, callback, discord.ScopeIdentify, discord.ScopeEmail)
		g.HTTPClient = web
		p.configure("Discord", g)
	case "gitlab":
		g := newGitLab(cfg, callback)
		g.HTTPClient = web
		p.configure("GitLab", g)
	case "oidc":
		issuer, err := newIssuer(cfg, callback, web)
		if err != nil {
			return nil, err
		}
		p.signInProtocol, p.Label = issuer, cmp.Or(p.Label, "Single sign-on")
	default:
		return nil, fmt.Errorf("sign-in provider %q is not known; there are github, google, discord, gitlab and oidc", cfg.Name)
	}
	return p, nil
}

func (p *provider) configure(label string, g goth.Provider) {
	p.Label, p.signInProtocol = cmp.Or(p.Label, label), gothProvider{p.Name, g}
}

func newGitLab(cfg ProviderConfig, callback string) *gitlab.Provider {
	if cfg.Issuer == "" {
		return gitlab.New(cfg.ClientID, cfg.ClientSecret, callback, "read_user")
	}
	at := strings.TrimSuffix(cfg.Issuer, "/")
	return gitlab.NewCustomisedURL(cfg.ClientID, cfg.ClientSecret, callback,
		at+"/oauth/authorize", at+"/oauth/token", at+"/api/v4/user", "read_user")
}

// SignIn has the sign-in providers and the configured admins.
type SignIn struct {
	site          *site.Site
	Providers     []*provider
	developerCode *oneTimeCode // opens the developer sign-in
	// admins lists the admins: "provider:login", "provider:id:ID", or a verified e-mail address with or without its
	// provider.
	admins []string
}

// New checks the configuration of the providers. It does not connect to them.
func New(site *site.Site, configs []ProviderConfig, admins []string) (*SignIn, error) {
	providers, err := newProviders(configs, site.Settings.BaseURL)
	return &SignIn{site: site, Providers: providers, admins: admins, developerCode: newOneTimeCode()}, err
}

// providerPerson has a provider's data of a person.
type providerPerson struct {
	provider, subject string
	login             string // unique at the provider and not free to choose as a display name is; may be empty
	name              string
	email             string // only if the provider reports it as verified
}
