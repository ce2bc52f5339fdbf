package sandboxtest

import (
	"fmt"
	"net"
	"testing"
)

// The ports that are handed out. They lie below those that the kernel picks for port 0 and for outgoing connections
// (32768 and up), so that nothing takes one while the server that listens there is being restarted.
const (
	firstPort = 20_000
	pastPorts = 30_000
)

// Addr is an address on the loopback interface that is this test's until it ends, through every restart of its server.
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
