package web

import (
	"bytes"
	"net"
	"net/netip"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// proxies are the networks whose word is taken for who a visitor is. It decides about limits and the log,
// never about rights: whatever runs on this machine could say so, too.
type proxies []netip.Prefix

func (p proxies) trust(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// visitor is the address that a request comes from: the nearest that is no trusted proxy's. It is invalid
// when a proxy says nothing of it.
func (p proxies) visitor(c *fiber.Ctx) netip.Addr {
	peer := addrOf(c.Context().RemoteAddr())
	if !p.trust(peer) {
		return peer
	}
	for _, name := range []string{fiber.HeaderXForwardedFor, "X-Real-Ip"} {
		said := bytes.Join(c.Request().Header.PeekAll(name), []byte(","))
		hops := strings.Split(string(said), ",")
		for i := len(hops) - 1; i >= 0; i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
			if err != nil {
				break // what stands before it is not the proxy's word any more
			}
			if hop = hop.Unmap(); !p.trust(hop) {
				return hop
			}
		}
	}
	return netip.Addr{}
}

// visitorIP is the visitor's address in words; a proxy's own when it does not say whose request it brings.
func (s *Server) visitorIP(c *fiber.Ctx) string {
	if a := s.proxies.visitor(c); a.IsValid() {
		return a.String()
	}
	return c.IP()
}

// shareName names an address in a tally. With IPv6 whoever has one address has 2⁶⁴ of them.
func shareName(a netip.Addr) string {
	if !a.IsValid() {
		return ""
	}
	if a.Is6() {
		network, _ := a.WithZone("").Prefix(64)
		return network.String()
	}
	return a.String()
}

func addrOf(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}
