package web

import (
	"context"
	"net"
	"testing"

	"warpboard/models/modelstest"
)

func TestStoppingBeforeTheServerIsUpEndsItToo(t *testing.T) {
	s := startSite(t)
	s.stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		again, err := New(s.cfg)
		if err != nil {
			t.Fatal(err)
		}
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		if err := again.Serve(ctx, ln); err != nil {
			t.Errorf("Serve ended with %v", err)
		}
	}
}

func TestWrongSettingsAreSaid(t *testing.T) {
	good := startSite(t).cfg
	good.Store = modelstest.Open(t)
	tests := map[string]func(*Config){
		"base URL with a query": func(c *Config) { c.BaseURL = "https://example.org/boards?a=b" },
		"base URL of no scheme": func(c *Config) { c.BaseURL = "boards.example.org" },
		"no store":              func(c *Config) { c.Store = nil },
		"no hub":                func(c *Config) { c.Hub = nil },
	}
	for name, spoil := range tests {
		cfg := good
		spoil(&cfg)
		if _, err := New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
