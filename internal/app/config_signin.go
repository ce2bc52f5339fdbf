package app

import (
	"errors"

	"github.com/spf13/pflag"

	"warpboard/web"
)

// SignInProviders has the sign-in providers; a provider is enabled if it has a key.
type SignInProviders []web.ProviderConfig

// signInFlags declares the flags of all sign-in providers. A new provider needs a row here, and a case in newProvider
// of web/signin.
func signInFlags(fs *pflag.FlagSet, o *SignInProviders) {
	known := []struct{ name, title string }{
		{"github", "GitHub OAuth"}, {"google", "Google OAuth"}, {"discord", "Discord OAuth"}, {"gitlab", "GitLab OAuth"}, {"oidc", "OpenID Connect"},
	}
	*o = make(SignInProviders, len(known)) // a pointer, because the flags write to its fields
	for i, row := range known {
		p := &(*o)[i]
		p.Name = row.name
		fs.StringVar(&p.ClientID, row.name+"-key", "", row.title+" client id")
		fs.StringVar(&p.ClientSecret, row.name+"-secret", "", row.title+" client secret")
		switch row.name {
		case "gitlab":
			fs.StringVar(&p.Issuer, "gitlab-url", "https://gitlab.com", "GitLab server")
		case "oidc":
			fs.StringVar(&p.Issuer, "oidc-issuer", "", "issuer URL of an OpenID Connect provider")
			fs.StringVar(&p.Label, "oidc-name", "OpenID Connect", "label of the sign-in button")
		}
	}
}

// check validates the providers. The e-mail address or the login from a provider can make a user an admin (--admins),
// so the operator of the provider is trusted.
func (o SignInProviders) check(wrong *settingProblems) {
	for _, p := range o {
		wrong.requireThat((p.ClientID == "") == (p.ClientSecret == ""), "--%s-key and --%s-secret belong together: one is missing", p.Name, p.Name)
		if p.Name == "oidc" && (p.Issuer == "") != (p.ClientID == "") {
			*wrong = append(*wrong, errors.New("--oidc-issuer and --oidc-key belong together: one is missing"))
		}
	}
}

// providers returns the sign-in providers whose keys are set.
func (o SignInProviders) providers() (on []web.ProviderConfig) {
	for _, p := range o {
		if p.ClientID != "" {
			on = append(on, p)
		}
	}
	return on
}
