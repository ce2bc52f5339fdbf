package queuetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"
)

// AskingNode starts a NATS server with JetStream on loopback that asks the site who may connect. It returns its address,
// the same with the site's own name and password, and the seed that the site signs with.
func AskingNode(t testing.TB) (url, siteURL, seed string) {
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
	port := freePorts(t, 1)[0]
	node, err := server.NewServer(&server.Options{
		Host: "127.0.0.1", Port: port, NoSigs: true, NoLog: true, JetStream: true, StoreDir: t.TempDir(), MaxPayload: 16 << 20,
		Users:       []*server.User{{Username: "site", Password: "site"}},
		AuthCallout: &server.AuthCallout{Issuer: issuer, Account: "$G", AuthUsers: []string{"site"}},
	})
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
	return fmt.Sprintf("nats://127.0.0.1:%d", port), fmt.Sprintf("nats://site:site@127.0.0.1:%d", port), string(secret)
}
