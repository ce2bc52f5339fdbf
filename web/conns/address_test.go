package conns

import (
	"net/netip"
	"strings"
	"testing"
)

func TestProxiesAreNamedByAddressOrNetwork(t *testing.T) {
	p, err := ParseProxies([]string{"10.0.0.0/8", "2001:db8::7"})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{"10.1.2.3": true, "2001:db8::7": true, "2001:db8::8": false,
		"127.0.0.1": false} {
		if got := p.IsTrusted(netip.MustParseAddr(text)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
	if _, err := ParseProxies([]string{"nginx"}); err == nil || !strings.Contains(err.Error(), "nginx") {
		t.Errorf("a name is accepted: %v", err)
	}
}
