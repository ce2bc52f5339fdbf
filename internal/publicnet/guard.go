package publicnet

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

// special are networks outside the public internet, in addition to netip's and to IPv6 outside of unicast6; some contain an
// IPv4 address. Lists of the IANA registries; a network that becomes special later is dialled until it is added here.
var special = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // Azure's, for machines inside alone
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// unicast6 is the public internet in IPv6. Addresses outside of it are not dialled: translations to IPv4 (64:ff9b::/96,
// ::ffff:0:0:0/96), local and unassigned ones.
var unicast6 = netip.MustParsePrefix("2000::/3")

// leastPort: below it only those of HTTP are dialled.
const leastPort = 1024

// Guard says which addresses may be dialled.
type Guard struct {
	allowed []netip.Prefix // what the operator allows besides the public internet
	own     func() ([]net.Addr, error)
}

// New returns a guard that lets pass what is public, and what is allowed besides.
func New(allowed []netip.Prefix) Guard { return Guard{allowed, net.InterfaceAddrs} }

// Check is the Control of a net.Dialer, and refuses an address at the moment when it is dialled, after names have been resolved: a name that points elsewhere a
// moment later is refused then.
// It runs for each address that is tried, in the dialer, so that the address that is checked is the one that is connected
// to. The person who gave the address controls the name and what it resolves to.
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
	if within(g.allowed, ip) {
		return nil
	}
	if !public(ip) || !ofHTTP(port) || g.isOwn(ip) {
		return ErrRefused
	}
	return nil
}

// ofHTTP reports whether a port is one of HTTP, or free for anything. One that is not a number is 0, and neither.
func ofHTTP(port string) bool {
	number, _ := strconv.Atoi(port)
	return number >= leastPort || number == 80 || number == 443
}

// CheckHost refuses a host of a URL that Check would refuse whenever it is dialed: an address, the name of this machine, a
// number that resolvers read as an address, or a port. Other names are checked when they have been resolved.
func (g Guard) CheckHost(host, port string) error {
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || !ofHTTP(port) && len(g.allowed) == 0 {
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

// ErrRefused is the same for every address that must not be dialled. A more exact text would show what the operator's
// network contains.
var ErrRefused = errors.New("the address is not a public one, or its port is not one of HTTP")

func public(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && (ip.Is4() || unicast6.Contains(ip)) && !within(special, ip)
}

func within(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isOwn reports whether the address is one of this machine, which may trust itself more than others.
func (g Guard) isOwn(ip netip.Addr) bool {
	// Asked each time, since addresses come and go. Unknown ones refuse everything. What the operator allows (within,
	// above) wins over it.
	addresses, err := g.own()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip.AsSlice())
	})
}
