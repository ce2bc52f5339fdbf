package sandbox

import (
	"fmt"
	"net"
)

// listenOnHostAddresses listens on loopback and on one address of each other kind that this machine has. A program in
// the server's network could reach all of them, and one in a network with address translation all except loopback. The
// listeners send nothing. Weakness: on a machine without other addresses only loopback is tested. The caller must call
// forget.
func listenOnHostAddresses() (addresses []string, forget func(), err error) {
	var open []net.Listener
	forget = func() {
		for _, listener := range open {
			listener.Close()
		}
	}
	own, err := net.InterfaceAddrs()
	if err != nil {
		return nil, nil, fmt.Errorf("which addresses has this machine: %w", err)
	}
	seen := map[string]bool{}
	for _, ip := range append([]net.Addr{&net.IPNet{IP: net.IPv4(127, 0, 0, 1)}}, own...) {
		ip := ip.(*net.IPNet).IP
		kind := fmt.Sprint(ip.IsLoopback(), ip.To4() == nil)
		if seen[kind] || !ip.IsLoopback() && !ip.IsGlobalUnicast() {
			continue
		}
		listener, err := net.Listen("tcp", net.JoinHostPort(ip.String(), "0"))
		if err != nil && len(open) > 0 {
			continue // addresses can fail, for example if they are not ready yet
		}
		if err != nil {
			return nil, nil, fmt.Errorf("listen for the self-test: %w", err)
		}
		seen[kind] = true
		open = append(open, listener)
		addresses = append(addresses, listener.Addr().String())
	}
	return addresses, forget, nil
}
