package conns

import (
	"bytes"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"

	"github.com/gofiber/fiber/v2"
)

// Proxies lists the networks of trusted proxies, whose forwarded addresses count as the visitor's. Only limits and the
// log use such addresses, never access rights: any program on this machine could forge them.
type Proxies []netip.Prefix

// ParseNetworks reads addresses and networks, like 10.0.0.7 and 10.0.0.0/8.
func ParseNetworks(texts []string) (list []netip.Prefix, err error) {
	for _, text := range texts {
		network, err := netip.ParsePrefix(text)
		if address, notNetwork := netip.ParseAddr(text); notNetwork == nil {
			address = address.Unmap()
			network, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			return nil, fmt.Errorf("%q: want an address or a network, like 10.0.0.7 or 10.0.0.0/8", text)
		}
		list = append(list, network.Masked())
	}
	return list, nil
}

// ParseProxies reads addresses and networks of proxies, as ParseNetworks does. An empty list means the loopback
// addresses.
func ParseProxies(list []string) (Proxies, error) {
	if len(list) == 0 {
		list = []string{"127.0.0.0/8", "::1"}
	}
	networks, err := ParseNetworks(list)
	if err != nil {
		err = fmt.Errorf("trusted proxy %w", err)
	}
	return networks, err
}

// IsTrusted reports whether an address belongs to a trusted proxy.
func (p Proxies) IsTrusted(a netip.Addr) bool {
	for _, network := range p {
		if network.Contains(a) {
			return true
		}
	}
	return false
}

// ClientAddress returns the address of a request's client: the nearest address that is not a trusted proxy's. It is
// invalid if a proxy forwards no address.
func (p Proxies) ClientAddress(c *fiber.Ctx) netip.Addr {
	peer := PeerAddress(c)
	if !p.IsTrusted(peer) {
		return peer
	}
	for _, name := range []string{fiber.HeaderXForwardedFor, "X-Real-Ip"} {
		header := bytes.Join(c.Request().Header.PeekAll(name), []byte(","))
		hops := strings.Split(string(header), ",")
		for i := len(hops) - 1; i >= 0; i-- {
			hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
			if err != nil {
				break // a trusted proxy appends only valid addresses, so the client may have sent the rest
			}
			if hop = hop.Unmap(); !p.IsTrusted(hop) {
				return hop
			}
		}
	}
	return netip.Addr{}
}

// SenderKeysOf returns the keys under which the limiter counts an address, from small to large: an IPv4 address alone;
// of an IPv6 address its /64, /56, and /48 networks, because one customer has at least a /64 and often a /56 or a /48,
// and could otherwise avoid the limits by changing addresses. It returns nil for an invalid address.
func SenderKeysOf(a netip.Addr) (who SenderKeys) {
	switch {
	case a.Is4():
		return SenderKeys{a.String()}
	case a.Is6():
		for _, bits := range []int{64, 56, 48} {
			network, _ := a.WithZone("").Prefix(bits)
			who = append(who, network.String())
		}
	}
	return who
}

// PeerAddress returns the address of the TCP connection of a request: the visitor's or a proxy's. Use PeerAddress for
// access rights, ClientAddress for limits.
func PeerAddress(c *fiber.Ctx) netip.Addr { return TCPAddress(c.Context().RemoteAddr()) }

// TCPAddress returns the address of a TCP peer, or the zero address for any other.
func TCPAddress(a net.Addr) netip.Addr {
	tcp, ok := a.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return tcp.AddrPort().Addr().Unmap()
}

// IsLoopback reports whether a "host:port" or a host names this machine only.
func IsLoopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = hostport
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// IsFromThisMachine reports whether a request certainly comes from this machine. A header of a proxy makes the result
// false, because every forwarded request has a local address. So does a Host header with another host name (DNS
// rebinding).
func IsFromThisMachine(c *fiber.Ctx) bool {
	ip := c.Context().RemoteIP()
	return IsLoopback(string(c.Request().Host())) && !HasProxyHeader(c) && (ip.IsLoopback() || ip.IsUnspecified())
}

// ProxyHeaders lists the headers that proxies add to requests.
func ProxyHeaders() []string {
	return []string{"Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-Ip", "Via"}
}

// HasProxyHeader reports whether the request has a header of a proxy.
func HasProxyHeader(c *fiber.Ctx) bool {
	return slices.ContainsFunc(ProxyHeaders(), func(mark string) bool { return c.Get(mark) != "" })
}
