package e2e

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"warpboard/evaluator/job"
	"warpboard/evaluator/sandbox/sandboxtest"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// poller requests a page every 20 ms, over one connection if kept is set, otherwise over a new one each time.
type poller struct {
	kept     bool
	asked    int
	longest  time.Duration // longest time of a response
	failures []string
}

func (p *poller) run(ctx context.Context, url string) {
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: !p.kept}, Timeout: tier.Patience()}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for ctx.Err() == nil {
		began := time.Now()
		if err := p.ask(client, url); err != nil {
			p.failures = append(p.failures, fmt.Sprintf("%s: %v", began.Format("05.000"), err))
		}
		p.asked++
		p.longest = max(p.longest, time.Since(began))
		<-tick.C
	}
}

func (p *poller) ask(client *http.Client, url string) error {
	res, err := client.Get(url)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		return err
	}
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", res.StatusCode)
	}
	return nil
}

// activated starts a site with the small task on a listening socket that survives restarts, like systemd's.
func activated(t *testing.T) *site {
	t.Helper()
	ln, err := net.Listen("tcp", sandboxtest.Addr(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ln.Close() })
	s := &site{addr: ln.Addr().String(), data: filepath.Join(t.TempDir(), "data"), firstUID: sandboxtest.FirstUID(t),
		args: smallTaskArgs(t)}
	if s.socket, err = ln.(*net.TCPListener).File(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.socket.Close() })
	s.url = "http://" + s.addr
	s.up(t)
	return s
}

// TestARestartOnASocketOfSystemdLosesNoConnection restarts a site during a run, which is handed back, and submits
// another run during the restart.
func TestARestartOnASocketOfSystemdLosesNoConnection(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s := activated(t)
	ada := s.person(t, "Ada", accounts.RoleUser)
	long := ada.submit(job.ModeBenchmark, kernel("for (;;) pause();")) // it runs until the time limit of a minute
	// Wait for this stage: during the build the run would be handed back at once, and the old process would end too
	// soon.
	ada.reach(long, work.StateBenchmarking)

	polling, stop := context.WithCancel(t.Context())
	defer stop()
	pollers := []*poller{{}, {}, {}, {kept: true}}
	var all sync.WaitGroup
	for _, p := range pollers {
		all.Go(func() { p.run(polling, s.url) })
	}
	old, began := s.process, time.Now()
	if err := old.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	tier.WaitFor(t, "the process to be not ready", func() error {
		res, err := http.Get(s.url + "/readyz")
		if err != nil {
			return err
		}
		defer res.Body.Close()
		if text, err := io.ReadAll(res.Body); err != nil || !strings.Contains(string(text), "stopping") {
			return fmt.Errorf("%s %s %w", res.Status, text, err)
		}
		return nil
	})
	between := ada.submit(job.ModeTest, kernel("/* between */"))
	<-old.done
	ended := time.Since(began)
	s.up(t)
	away := time.Since(began) - ended
	ada.cancel(long)
	if err := wantState(ada.ended(between), work.StateDone); err != nil {
		t.Error(err)
	}
	stop()
	all.Wait()
	t.Logf("the old process ended %s after SIGTERM, and the next answered %s later", ended.Round(time.Millisecond),
		away.Round(time.Millisecond))
	for _, p := range pollers {
		t.Logf("kept connections %v: %d requests, %d failed, the slowest took %s", p.kept, p.asked, len(p.failures),
			p.longest.Round(time.Millisecond))
		if len(p.failures) > 0 {
			t.Errorf("kept connections %v: %d of %d requests failed: %v", p.kept, len(p.failures), p.asked, p.failures)
		}
	}
}
