package webhooks

import (
	"net"
	"net/netip"
	"testing"
)

func TestOnlyPublicAddressesAreDialled(t *testing.T) {
	own := func() ([]net.Addr, error) {
		_, n, _ := net.ParseCIDR("8.8.4.0/24")
		n.IP = net.ParseIP("8.8.4.4")
		return []net.Addr{n}, nil
	}
	g := Guard{[]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}, own}
	for address, ok := range map[string]bool{
		"8.8.8.8:443": true, "8.8.8.8:8443": true, "[2606:4700::1111]:443": true, "10.1.2.3:80": true,
		"10.1.2.3:25": true, "[::ffff:10.1.2.3]:80": true,
		"8.8.8.8:25": false, "8.8.4.4:443": false, "10.2.2.3:80": false, "127.0.0.1:443": false, "0.0.0.0:443": false,
		"169.254.169.254:80": false,
		"172.16.0.1:443":     false, "192.168.1.1:443": false, "100.64.0.1:443": false, "198.18.0.1:443": false,
		"224.0.0.1:443": false, "255.255.255.255:443": false,
		"[::1]:443": false, "[::]:443": false, "[fe80::1%eth0]:443": false, "[fc00::1]:443": false,
		"[ff02::1]:443": false, "[::ffff:127.0.0.1]:443": false,
		"[64:ff9b::7f00:1]:443": false, "[2002:7f00:1::]:443": false, "[2001::1]:443": false,
		"[::127.0.0.1]:443": false,
		"168.63.129.16:80":  false, "[::ffff:0:7f00:1]:443": false, "[64:ff9b::808:808]:443": false,
		"[3fff::1]:443": false, "[2001:db8::1]:443": false,
		"[4000::1]:443": false, "[fec0::1]:443": false, "[5f00::1]:443": false, "[100::1]:443": false,
	} {
		if err := g.Check("tcp", address, nil); (err == nil) != ok {
			t.Errorf("%s: %v", address, err)
		}
	}
}

// TestAPortThatIsNeverDialledIsRefusedWithItsName checks that CheckHost refuses ports that Check would refuse for every
// address. If the operator allows a network, the name may resolve to it, so such a port is accepted.
func TestAPortThatIsNeverDialledIsRefusedWithItsName(t *testing.T) {
	public, inside := NewGuard(nil), NewGuard([]netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")})
	for port, ok := range map[string][2]bool{
		"443": {true, true}, "80": {true, true}, "8443": {true, true}, "22": {false, true}, "0": {false, false},
		"65536": {false, false},
	} {
		if got := [2]bool{public.CheckHost("example.org", port) == nil,
			inside.CheckHost("example.org", port) == nil}; got != ok {
			t.Errorf("port %s may be dialled: %v, want %v", port, got, ok)
		}
	}
}
