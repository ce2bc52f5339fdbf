package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/markbates/goth"
	"github.com/markbates/goth/providers/openidConnect"

	"warpboard/web/wire"
)

// issuer is an OpenID Connect provider, known by its URL. Its addresses are looked up at the first
// sign-in, so that the site starts while the issuer is down.
type issuer struct {
	cfg      ProviderConfig
	callback string
	client   *http.Client

	mu    sync.Mutex
	found goth.Provider
}

func newIssuer(cfg ProviderConfig, callback string, client *http.Client) (*issuer, error) {
	u, err := url.Parse(cfg.Issuer)
	if err != nil || u.Host == "" {
		return nil, fmt.Errorf("OpenID Connect issuer %q: want a URL like https://id.example.org", cfg.Issuer)
	}
	// goth relies on TLS for the id token's authenticity, as OpenID Connect allows for the code flow.
	if u.Scheme != "https" && !wire.IsLoopback(u.Host) {
		return nil, fmt.Errorf("OpenID Connect issuer %q: must be https", cfg.Issuer)
	}
	cfg.Issuer = strings.TrimSuffix(cfg.Issuer, "/")
	return &issuer{cfg: cfg, callback: callback, client: client}, nil
}

// provider returns the goth provider, discovering its addresses when that has not worked yet.
func (i *issuer) provider(ctx context.Context) (goth.Provider, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.found != nil {
		return i.found, nil
	}
	d, err := i.discover(ctx)
	if err != nil {
		return nil, fmt.Errorf("discover OpenID Connect issuer %s: %w", i.cfg.Issuer, err)
	}
	p, err := openidConnect.NewCustomisedURL(i.cfg.Key, i.cfg.Secret, i.callback,
		d.Authorization, d.Token, d.Issuer, d.UserInfo, "", "openid", "profile", "email")
	if err != nil {
		return nil, err
	}
	p.HTTPClient = i.client
	p.NickNameClaims = []string{openidConnect.PreferredUsernameClaim} // "nickname" is free to choose
	i.found = p
	return p, nil
}

type discovery struct {
	Issuer        string `json:"issuer"`
	Authorization string `json:"authorization_endpoint"`
	Token         string `json:"token_endpoint"`
	UserInfo      string `json:"userinfo_endpoint"`
}

func (i *issuer) discover(ctx context.Context) (discovery, error) {
	var d discovery
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, i.cfg.Issuer+"/.well-known/openid-configuration", nil)
	if err != nil {
		return d, err
	}
	resp, err := i.client.Do(req)
	if err != nil {
		return d, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return d, fmt.Errorf("it answers %s", resp.Status)
	}
	if err := json.NewDecoder(io.LimitReader(resp.Body, 1<<20)).Decode(&d); err != nil {
		return d, fmt.Errorf("its description is not JSON: %w", err)
	}
	if strings.TrimSuffix(d.Issuer, "/") != i.cfg.Issuer {
		return d, fmt.Errorf("it says that it is %q", d.Issuer)
	}
	if d.Authorization == "" || d.Token == "" {
		return d, errors.New("its description lacks authorization_endpoint or token_endpoint")
	}
	return d, nil
}
