package sandboxtest

import (
	"fmt"
	"net"
	"testing"
)

// Range of reserved ports. They are below those that the kernel assigns to port 0 and to outgoing connections (32768
// and up), so that nothing takes one while its server restarts.
const (
	firstPort = 20_000
	pastPorts = 30_000
)

// Addr returns a loopback address that is reserved until the test ends, even while its server restarts.
func Addr(tb testing.TB) string {
	tb.Helper()
	port, release, err := reserve("ports", firstPort, pastPorts, 1, func(port int) bool {
		l, err := net.Listen("tcp", loopback(port))
		return err == nil && l.Close() == nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(release)
	return loopback(port)
}

func loopback(port int) string { return fmt.Sprintf("127.0.0.1:%d", port) }
