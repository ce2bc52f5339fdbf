package signin

import "testing"

func TestProviderSettingsAreCheckedAtStart(t *testing.T) {
	tests := map[string]ProviderConfig{
		"unknown":         {Name: "facebook", ClientID: "k", ClientSecret: "s"},
		"no secret":       {Name: "github", ClientID: "k"},
		"no issuer":       {Name: "oidc", ClientID: "k", ClientSecret: "s"},
		"issuer in clear": {Name: "oidc", ClientID: "k", ClientSecret: "s", Issuer: "http://id.example.org"},
	}
	for name, cfg := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := newProviders([]ProviderConfig{cfg}, "https://site.example"); err == nil {
				t.Errorf("%+v was accepted", cfg)
			}
		})
	}
	var all []ProviderConfig
	for _, name := range []string{"github", "google", "discord", "gitlab", "oidc"} {
		all = append(all, ProviderConfig{Name: name, ClientID: "k", ClientSecret: "s",
			Issuer: "https://id.example.org"})
	}
	if ps, err := newProviders(all, "https://site.example"); err != nil || len(ps) != len(all) {
		t.Errorf("all five providers: %v", err)
	}
}
