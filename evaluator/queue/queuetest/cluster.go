package queuetest

import (
	"fmt"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// Cluster is a group of NATS servers on loopback. Each can be stopped and started again.
type Cluster struct {
	t     testing.TB
	nodes []*server.Server
	opts  []*server.Options
}

// NewCluster starts the given number of servers. They stop at the end of the test.
func NewCluster(t testing.TB, nodes int) *Cluster {
	t.Helper()
	c := &Cluster{t: t, nodes: make([]*server.Server, nodes)}
	ports := freePorts(t, 2*nodes)
	var routes []string
	for i := range nodes {
		routes = append(routes, fmt.Sprintf("nats://127.0.0.1:%d", ports[nodes+i]))
	}
	for i := range nodes {
		opts := &server.Options{
			ServerName: fmt.Sprintf("node%d", i+1), Host: "127.0.0.1", Port: ports[i], NoSigs: true, NoLog: true,
			MaxPayload: 16 << 20,
		}
		if nodes > 1 {
			opts.Cluster = server.ClusterOpts{Name: "test", Host: "127.0.0.1", Port: ports[nodes+i]}
			opts.Routes = server.RoutesFromStr(strings.Join(routes, ","))
		}
		c.opts = append(c.opts, opts)
		c.Start(i)
	}
	t.Cleanup(func() {
		for i := range c.nodes {
			c.Stop(i)
		}
	})
	return c
}

// URL returns the addresses of all nodes, separated by commas.
func (c *Cluster) URL() string {
	var urls []string
	for _, opts := range c.opts {
		urls = append(urls, fmt.Sprintf("nats://127.0.0.1:%d", opts.Port))
	}
	return strings.Join(urls, ",")
}

// Start starts a node.
func (c *Cluster) Start(i int) {
	c.t.Helper()
	node, err := server.NewServer(c.opts[i].Clone())
	if err != nil {
		c.t.Fatal(err)
	}
	node.Start()
	if !node.ReadyForConnections(time.Minute) {
		c.t.Fatal("a NATS server is not ready after a minute")
	}
	c.nodes[i] = node
}

// Stop stops a node.
func (c *Cluster) Stop(i int) {
	c.nodes[i].Shutdown()
	c.nodes[i].WaitForShutdown()
}

func freePorts(t testing.TB, n int) (ports []int) {
	t.Helper()
	for range n { // all listeners are open at once, so that the ports differ
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports = append(ports, l.Addr().(*net.TCPAddr).Port)
	}
	return ports
}
