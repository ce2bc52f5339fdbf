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

// nonPublicNetworks lists networks outside the public Internet, in addition to those that netip recognizes. Some
// contain IPv4 addresses. Source: IANA registries.
var nonPublicNetworks = []netip.Prefix{
	netip.MustParsePrefix("0.0.0.0/8"), netip.MustParsePrefix("100.64.0.0/10"), netip.MustParsePrefix("192.0.0.0/24"),
	netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("192.88.99.0/24"), netip.MustParsePrefix("198.18.0.0/15"),
	netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("203.0.113.0/24"), netip.MustParsePrefix("240.0.0.0/4"),
	netip.MustParsePrefix("168.63.129.16/32"), // address of an Azure service, reachable only from Azure's machines
	netip.MustParsePrefix("2001::/23"), netip.MustParsePrefix("2001:db8::/32"), netip.MustParsePrefix("2002::/16"), netip.MustParsePrefix("3fff::/20"),
}

// publicIPv6 is the range of public IPv6 addresses. Others are refused: translations to IPv4 (64:ff9b::/96,
// ::ffff:0:0:0/96), local, and unassigned ones.
var publicIPv6 = netip.MustParsePrefix("2000::/3")

// minPort is the lowest allowed port, except for those of HTTP.
const minPort = 1024

// Guard decides which addresses webhooks may connect to.
type Guard struct {
	allowedNetworks  []netip.Prefix // networks that the operator allows in addition
	machineAddresses func() ([]net.Addr, error)
}

// NewGuard returns a guard that allows public addresses, and the networks in allowed.
func NewGuard(allowed []netip.Prefix) Guard { return Guard{allowed, net.InterfaceAddrs} }

// Check implements the Control function of net.Dialer. It returns an error if the address is not allowed. It runs after
// name resolution, for the address that is connected to: the owner of a webhook controls the name and can change its
// addresses at any time.
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
	if anyNetworkContains(g.allowedNetworks, ip) {
		return nil
	}
	if !isPublic(ip) || !isHTTPPort(port) || g.isOwnAddress(ip) {
		return ErrRefused
	}
	return nil
}

// isHTTPPort reports whether a port is one of HTTP's or at least minPort. An invalid port is refused.
func isHTTPPort(port string) bool {
	number, _ := strconv.Atoi(port)
	return number >= minPort || number == 80 || number == 443
}

// CheckHost returns an error for a host and port that Check would always refuse: an address, a name of this machine, a
// number that resolvers read as an address, or a port. Other names are checked after resolution.
func (g Guard) CheckHost(host, port string) error {
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 || !isHTTPPort(port) && len(g.allowedNetworks) == 0 {
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
	if _, err := strconv.ParseUint(last, 0, 64); err == nil || last == "" { // such as 127.1, 0x7f000001, or 2130706433
		return ErrRefused
	}
	return nil
}

// ErrRefused is the only error for refused addresses. A more precise one would reveal the operator's network.
var ErrRefused = errors.New("the address is not a public one, or its port is not one of HTTP")

func isPublic(ip netip.Addr) bool {
	return ip.IsGlobalUnicast() && !ip.IsPrivate() && (ip.Is4() || publicIPv6.Contains(ip)) && !anyNetworkContains(nonPublicNetworks, ip)
}

func anyNetworkContains(networks []netip.Prefix, ip netip.Addr) bool {
	return slices.ContainsFunc(networks, func(n netip.Prefix) bool { return n.Contains(ip) })
}

// isOwnAddress reports whether the address belongs to this machine, whose services may trust local connections.
func (g Guard) isOwnAddress(ip netip.Addr) bool {
	// The machine's addresses are read each time, because they change. If that fails, every address is refused.
	// Networks in allowed (checked above) take precedence.
	addresses, err := g.machineAddresses()
	return err != nil || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip.AsSlice())
	})
}
