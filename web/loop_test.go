package web

import (
	"net/http"
	"testing"

	"github.com/valyala/fasthttp"
)

// TestMCPIdentifiesVisitorsByTheProxysHeader checks that the inner request keeps both X-Forwarded-For lines: the one
// that the visitor forged, and the one that the proxy added.
func TestMCPIdentifiesVisitorsByTheProxysHeader(t *testing.T) {
	outer := http.Header{"X-Forwarded-For": {"198.51.100.8", "192.0.2.9"}}
	var inner fasthttp.Request
	request, err := http.NewRequestWithContext(t.Context(), "GET", "/api/v1/devices", nil)
	if err == nil {
		err = localTransport{outerRequestHeader: outer}.fillRequest(&inner, request)
	}
	if got := string(inner.Header.Peek("X-Forwarded-For")); err != nil || got != "198.51.100.8,192.0.2.9" {
		t.Errorf("the inner request is for %q, %v", got, err)
	}
}
