package webhooks

import (
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"syscall"
)

// nonPublicNetworks are networks outside the public Internet, in addition to netip's and to IPv6 outside of unicast6;
// some contain an IPv4 address. Source: IANA registries. A network that becomes special later is dialed until it is
// added here.
var nonPublicNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's, only for machines inside
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// publicIPv6 is the public Internet in IPv6. Addresses outside of it are not dialed: translations to IPv4
// (64:ff9b::/96, ::ffff:0:0:0/96), local, and unassigned ones.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// minPort is the port below which only those of HTTP are dialed.
const minPort = 1024

// Guard decides which addresses may be dialed.
type Guard struct {
	allowed      []netip.Prefix // networks that the operator allows in addition
	ownAddresses func() ([]net.Addr, error)
}

// NewGuard returns a guard that allows public addresses, and those in allowed.
func NewGuard(allowed []netip.Prefix) Guard { return Guard{allowed, net.InterfaceAddrs} }

// Check is the Control function of a net.Dialer. It refuses an address when it is dialed, after name resolution: a name
// that later points elsewhere is refused then. It runs for each address in the dialer, so that the checked address is
// the one that is connected to. The person who gave the address controls the name and its resolution.
func (g Guard) Check(_, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the address %q cannot be read: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("the address %q cannot be read: %w", host, err)
	}
	ip = ip.WithZone("").Unmap()
	if anyContains(g.allowed, ip) {
		return nil
	}
	if !isPublic(ip) || !isHTTPPort(port) || g.isOwn(ip) {
		return ErrRefused
	}
	return nil
}

// isHTTPPort reports whether a port is one of HTTP, or not reserved. An invalid port is refused.
func isHTTPPort(port string) bool {
	number, _ := strconv.Atoi(port)
	return number >= minPort || number == 80 || number == 443
}

// CheckHost refuses a host of a URL that Check would always refuse: an address, the name of this machine, a number that
// resolvers read as an address, or a port. Other names are checked after resolution.
func (g Guard) CheckHost(host, port string) error {
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || !isHTTPPort(port) && len(g.allowed) == 0 {
		return ErrRefused
	}
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		host = "127.0.0.1"
	}
	if _, err := netip.ParseAddr(host); err == nil {
		return g.Check("", net.JoinHostPort(host, port), nil)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || last == "" { // 127.1, 0x7f000001, 2130706433
		return ErrRefused
	}
	return nil
}

// ErrRefused is the same for all refused addresses. A more precise error would reveal the operator's network.
var ErrRefused = errors.New("the address is not a public one, or its port is not one of HTTP")

func isPublic(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && (ip.Is4() || publicIPv6.Contains(ip)) && !anyContains(nonPublicNetworks, ip)
}

func anyContains(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isOwn reports whether the address is one of this machine, which may trust itself more than others.
func (g Guard) isOwn(ip netip.Addr) bool {
	// Queried each time, because addresses change. If they are unknown, everything is refused. Networks that the
	// operator allows (checked above) take precedence.
	addresses, err := g.ownAddresses()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip.AsSlice())
	})
}
