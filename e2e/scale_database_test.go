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

// database is the PostgreSQL of this test process, which TestScaleCheck kills and restarts. The process that stops the
// PostgreSQL of tests knows only the first start, so stop ends the restarted one.
type database struct {
	dir   string // data directory
	again *os.Process
	ended chan error // receives the result of waiting for the restarted server
}

// newDatabase returns the PostgreSQL of the tests, with commits that wait for the write-ahead log, as in production.
// modelstest disables that, so a killed server would lose its latest commits.
func newDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{}
	t.Cleanup(d.stop) // runs last, after the schemas of the test are dropped: cleanups run in reverse order
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

// killed kills the PostgreSQL server, starts it again when its processes are gone, and waits until the sites respond.
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
	tier.WaitFor(t, "the processes of PostgreSQL to be gone", d.checkStopped)
	// Delete the lock files: the killed server remains a zombie until its parent reads its status, and the next one
	// would take it for a running server.
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

// checkStopped returns an error if a process has the data directory as its working directory, as all PostgreSQL
// processes do.
func (d *database) checkStopped() error {
	links, err := filepath.Glob("/proc/[0-9]*/cwd")
	for _, link := range links {
		if dir, err := os.Readlink(link); err == nil && dir == d.dir { // a zombie has no working directory
			return errors.New(link)
		}
	}
	return err
}

// start starts the server as the owner of its data, and waits until it accepts connections.
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
