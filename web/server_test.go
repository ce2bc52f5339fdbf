package web_test

import (
	"context"
	"net"
	"testing"

	"warpboard/models/modelstest"
	"warpboard/web"
	"warpboard/web/webtest"
)

func TestStoppingBeforeTheServerIsUpEndsItToo(t *testing.T) {
	s := webtest.Start(t)
	s.Stop()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		again, err := web.New(s.Cfg)
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

func TestNewNamesWrongSettings(t *testing.T) {
	good := webtest.Start(t).Cfg
	good.Store = modelstest.Open(t)
	tests := map[string]func(*web.Config){
		"base URL with a query": func(c *web.Config) { c.BaseURL = "https://example.org/boards?a=b" },
		"base URL of no scheme": func(c *web.Config) { c.BaseURL = "boards.example.org" },
		"no store":              func(c *web.Config) { c.Store = nil },
		"no hub":                func(c *web.Config) { c.Hub = nil },
	}
	for name, spoil := range tests {
		cfg := good
		spoil(&cfg)
		if _, err := web.New(cfg); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
