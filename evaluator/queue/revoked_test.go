package queue

import (
	"testing"

	"github.com/nats-io/nats.go"
)

// TestAWorkerThatIsRevokedWhileItComesIsNotLetIn checks a credential that is revoked after the site has read it for a
// connecting worker.
func TestAWorkerThatIsRevokedWhileItComesIsNotLetIn(t *testing.T) {
	read, revoked := make(chan struct{}), make(chan struct{})
	q := openQueue(t, Config{ListenAddress: "127.0.0.1:0", Authorize: func(string, string) ([]string, bool, error) {
		close(read)
		<-revoked
		return []string{"CPU"}, true, nil
	}})
	comes := make(chan error, 1)
	go func() {
		nc, err := nats.Connect(q.Addr(), nats.UserInfo("w.cpu", "right"), nats.NoReconnect())
		if err == nil {
			err = nc.Flush()
			nc.Close()
		}
		comes <- err
	}()
	<-read
	q.DisconnectWorker("w.cpu")
	close(revoked)
	if err := <-comes; err == nil {
		t.Error("it was let in")
	}
}
