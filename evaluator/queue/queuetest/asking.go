package queuetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// AskingNode starts a NATS server on loopback with a configuration (recipe) that makes it ask the site to authorize
// workers. It returns the server's URL, the URL with the site's user and password, and the seed of the site's signing
// key.
func AskingNode(t testing.TB, recipe string) (url, siteURL, seed string) {
	t.Helper()
	keys, err := nkeys.CreateAccount()
	if err != nil {
		t.Fatal(err)
	}
	secret, err := keys.Seed()
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := keys.PublicKey()
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("WARPBOARD_ISSUER", issuer)
	t.Setenv("WARPBOARD_SITE_PASSWORD", "site-password")
	opts, err := server.ProcessConfigFile(recipe)
	if err != nil {
		t.Fatal(err)
	}
	opts.Host, opts.Port, opts.NoSigs, opts.NoLog = "127.0.0.1", freePorts(t, 1)[0], true, true
	node, err := server.NewServer(opts)
	if err != nil {
		t.Fatal(err)
	}
	node.Start()
	t.Cleanup(func() {
		node.Shutdown()
		node.WaitForShutdown()
	})
	if !node.ReadyForConnections(time.Minute) {
		t.Fatal("the NATS server is not ready after a minute")
	}
	address := fmt.Sprintf("127.0.0.1:%d", opts.Port)
	return "nats://" + address, "nats://site:site-password@" + address, string(secret)
}
