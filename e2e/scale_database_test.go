package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"warpboard/internal/test/tier"
	"warpboard/models/modelstest"
)

// database is the PostgreSQL of this test process, which TestScaleCheck kills and starts again. The guard that ends it
// with the process knows the first start only, so the test ends what was started again.
type database struct {
	dir   string // of its data
	again *os.Process
	ended chan error // of what was started again
}

// newDatabase has commits wait until they are in the log, as a site's database does: modelstest leaves that out, and a
// server that is killed then forgets the last of them.
func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{}
	t.Cleanup(d.stop) // after the schemas of the test are gone: cleanups of later calls run first
	db, err := sql.Open("pgx", modelstest.PostgresURL(t))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	_, err = db.Exec("alter role app set synchronous_commit = on")
	if err := errors.Join(err, db.QueryRow("show data_directory").Scan(&d.dir)); err != nil {
		t.Fatal(err)
	}
	return d
}

func (d *database) stop() {
	if d.again != nil {
		_ = d.again.Signal(syscall.SIGQUIT)
		<-d.ended
	}
}

// killed kills the server, starts it again once its processes are gone, and waits until the sites answer.
func (d *database) killed(t *testing.T, sites []*site) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "postmaster.pid"))
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	if err != nil {
		t.Fatal(err)
	}
	command, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	args := strings.Split(strings.TrimRight(string(command), "\x00"), "\x00")
	info, statErr := os.Stat(d.dir)
	if err := errors.Join(err, statErr); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	owner := info.Sys().(*syscall.Stat_t)
	tier.WaitFor(t, "the processes of PostgreSQL to be gone", d.gone)
	// The dead server stays a zombie of its guard, which the next one would take for a server that lives.
	for _, lock := range []string{filepath.Join(d.dir, "postmaster.pid"),
		filepath.Join(filepath.Dir(d.dir), ".s.PGSQL.5432.lock")} {
		if err := os.Remove(lock); err != nil {
			t.Fatal(err)
		}
	}
	if err := d.start(args, owner); err != nil {
		t.Fatal(err)
	}
	for _, s := range sites {
		tier.WaitFor(t, "the site to reach its database", func() error {
			resp, err := http.Get(s.url + "/healthz")
			if err != nil {
				return err
			}
			resp.Body.Close()
			if resp.StatusCode != http.StatusOK {
				return errors.New(resp.Status)
			}
			return nil
		})
	}
}

// gone fails while a process works in the data's directory, as all of the server's do.
func (d *database) gone() error {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && dir == d.dir { // a zombie has none
			return errors.New(link)
		}
	}
	return err
}

// start starts the server as its owner, and waits until it takes connections.
func (d *database) start(args []string, owner *syscall.Stat_t) error {
	var output bytes.Buffer
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stderr = d.dir, &output
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: owner.Uid, Gid: owner.Gid},
		Pdeathsig: syscall.SIGQUIT}
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	ready := func() bool {
		text, err := os.ReadFile(filepath.Join(d.dir, "postmaster.pid"))
		return err == nil && strings.HasPrefix(string(text), fmt.Sprintf("%d\n", cmd.Process.Pid)) &&
			strings.Contains(string(text), "ready")
	}
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return fmt.Errorf("%w: %s", err, output.String())
		case <-tick.C:
			if ready() {
				d.again, d.ended = cmd.Process, ended
				return nil
			}
		}
	}
}
