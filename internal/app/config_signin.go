package app

import (
	"errors"

	"github.com/spf13/pflag"

	"warpboard/web"
)

// OAuthConfig holds the sign-in providers; each is on when its key is set.
type OAuthConfig []web.ProviderConfig

// signInFlags declares the flags of all sign-in providers. A new one is a row here, and a case in web/signin's newProvider.
func signInFlags(fs *pflag.FlagSet, o *OAuthConfig) {
	known := []struct{ name, title string }{
		{"github", "GitHub OAuth"}, {"google", "Google OAuth"}, {"discord", "Discord OAuth"}, {"gitlab", "GitLab OAuth"}, {"oidc", "OpenID Connect"},
	}
	*o = make(OAuthConfig, len(known)) // flags point into it
	for i, row := range known {
		p := &(*o)[i]
		p.Name = row.name
		fs.StringVar(&p.Key, row.name+"-key", "", row.title+" client id")
		fs.StringVar(&p.Secret, row.name+"-secret", "", row.title+" client secret")
		switch row.name {
		case "gitlab":
			fs.StringVar(&p.Issuer, "gitlab-url", "https://gitlab.com", "GitLab server")
		case "oidc":
			fs.StringVar(&p.Issuer, "oidc-issuer", "", "issuer URL of an OpenID Connect provider")
			fs.StringVar(&p.Label, "oidc-name", "OpenID Connect", "label of the sign-in button")
		}
	}
}

// An e-mail or a login from such a provider can make admins (--admins), so the provider's operator is trusted with the site.
func (o OAuthConfig) check(wrong *problems) {
	for _, p := range o {
		wrong.unless((p.Key == "") == (p.Secret == ""), "--%s-key and --%s-secret belong together: one is missing", p.Name, p.Name)
		if p.Name == "oidc" && (p.Issuer == "") != (p.Key == "") {
			*wrong = append(*wrong, errors.New("--oidc-issuer and --oidc-key belong together: one is missing"))
		}
	}
}

// providers lists the sign-in providers whose keys are set.
func (o OAuthConfig) providers() (on []web.ProviderConfig) {
	for _, p := range o {
		if p.Key != "" {
			on = append(on, p)
		}
	}
	return on
}
