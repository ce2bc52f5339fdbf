package webhooks

import (
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"syscall"
)

// special are networks that are not the public internet, beside those that netip knows, and those that carry an IPv4 address
// inside.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("::/96"), netip.MustParsePrefix("64:ff9b::/96"), netip.MustParsePrefix("64:ff9b:1::/48"), netip.MustParsePrefix("100::/64"),
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("fec0::/10"),
}

// leastPort: below it only those of HTTP are dialled.
const leastPort = 1024

// guard says which addresses may be dialled.
type guard struct {
	allowed []netip.Prefix // what the operator allows besides the public internet
	own     func() ([]net.Addr, error)
}

// check refuses an address at the moment when it is dialled, after names have been resolved: a name that points elsewhere a
// moment later is refused then.
func (g guard) check(_, address string, _ syscall.RawConn) error {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("the address %q cannot be read: %w", address, err)
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return fmt.Errorf("the address %q cannot be read: %w", host, err)
	}
	ip = ip.WithZone("").Unmap()
	if within(g.allowed, ip) {
		return nil
	}
	number, _ := strconv.Atoi(port)
	switch {
	case !public(ip):
		return refused("it is not a public address")
	case number < leastPort && number != 80 && number != 443:
		return refused("its port is not one of HTTP")
	case g.isOwn(ip):
		return refused("it is the site's own machine")
	}
	return nil
}

// refused does not name the address: whoever made the webhook would learn what a name inside the network points to.
func refused(why string) error {
	return fmt.Errorf("the receiver's address is refused: %s; the operator may allow it (--webhook-allow)", why)
}

func public(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && !within(special, ip)
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isOwn reports whether the address is one of this machine, which may trust itself more than others.
func (g guard) isOwn(ip netip.Addr) bool {
	addresses, err := g.own()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip.AsSlice())
	})
}
