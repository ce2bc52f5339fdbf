package modelstest

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	_ "github.com/jackc/pgx/v5/stdlib" // database/sql driver "pgx"

	"warpboard/internal/test/tier"
)

// start starts PostgreSQL once per test process. Tests of one package share the server and the lock of db.Write, which
// covers the whole database, not one schema, so parallel tests write one after the other.
var start = sync.OnceValues(startPostgres)

// server is a running PostgreSQL server.
type server struct {
	dir     string    // directory of the data and the socket
	life    io.Closer // the server ends when this is closed, also by the garbage collector
	mu      sync.Mutex
	emptied []string // schemas of ended tests, with all tables but without rows
}

// PostgresURL creates an empty schema on the test process's PostgreSQL and returns a URL for it. Creating a schema
// takes a tenth of the time of creating a database. The schema is dropped at the end of the test.
func PostgresURL(t testing.TB) string {
	t.Helper()
	tier.Needs(t, tier.Postgres)
	return AlwaysPostgresURL(t)
}

// AlwaysPostgresURL returns a URL of an empty schema, as PostgresURL does, for tests that the small test tier also runs
// on PostgreSQL.
func AlwaysPostgresURL(t testing.TB) string {
	t.Helper()
	server, admin := connect(t)
	name := makeSchema(t, admin)
	t.Cleanup(func() {
		if _, err := admin.Exec("drop schema " + name + " cascade"); err != nil {
			t.Errorf("dropping the schema: %v", err)
		}
	})
	return server.url(name)
}

// emptyPostgresURL returns a URL of an empty schema for tests that open a store and do not change its tables. A later
// test gets the same schema without rows: emptying it takes a third of the time of the migrations. A test that fails in
// a transaction leaves no lock, because its connections are closed before the schema is emptied.
func emptyPostgresURL(t testing.TB) string {
	t.Helper()
	server, admin := connect(t)
	name := server.take()
	if name == "" {
		name = makeSchema(t, admin)
	}
	t.Cleanup(func() {
		if _, err := admin.Exec(fmt.Sprintf(emptySchema, name)); err != nil {
			t.Errorf("emptying the schema: %v", err)
			return
		}
		server.give(name)
	})
	return server.url(name)
}

// emptySchema deletes all rows of a schema except the versions of its tables, and resets its sequences. TRUNCATE would
// be slower, because it creates new files for each table and index.
const emptySchema = `do $$ declare schema text = '%s'; name text; start bigint; begin
	perform set_config('session_replication_role', 'replica', true); -- foreign keys need no order
	for name in select tablename from pg_tables where schemaname = schema and tablename <> 'goose_db_version' loop
		execute format('delete from %%I.%%I', schema, name);
	end loop;
	for name, start in select sequencename, start_value from pg_sequences
		where schemaname = schema and last_value is not null and sequencename not like 'goose%%' loop
		perform setval(format('%%I.%%I', schema, name)::regclass, start, false);
	end loop;
end $$`

// connect starts the server if needed. The connections are closed at the end of the test.
func connect(t testing.TB) (*server, *sql.DB) {
	t.Helper()
	server, err := start()
	if err != nil {
		t.Fatalf("starting PostgreSQL for the tests: %v", err)
	}
	admin, err := sql.Open("pgx", url(server.dir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := admin.Close(); err != nil {
			t.Errorf("closing the connection to PostgreSQL: %v", err)
		}
	})
	return server, admin
}

func makeSchema(t testing.TB, admin *sql.DB) string {
	t.Helper()
	name := "t" + uuid.NewString()[:8]
	if _, err := admin.Exec("create schema " + name); err != nil {
		t.Fatalf("making a schema: %v", err)
	}
	return name
}

// take returns an emptied schema, or "" if there is none.
func (s *server) take() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.emptied) == 0 {
		return ""
	}
	name := s.emptied[len(s.emptied)-1]
	s.emptied = s.emptied[:len(s.emptied)-1]
	return name
}

func (s *server) give(schema string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emptied = append(s.emptied, schema)
}

func (s *server) url(schema string) string { return url(s.dir) + "&search_path=" + schema }

func url(dir string) string {
	return fmt.Sprintf("postgres://app@/postgres?host=%s&sslmode=disable", dir)
}

// startPostgres creates a cluster in a new directory and starts a server that listens on a socket in it. The server
// ends and the directory is deleted when this process ends, even if it is killed.
func startPostgres() (*server, error) {
	bin, err := findPostgres()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "warpboard-pg-")
	if err != nil {
		return nil, err
	}
	who, err := unprivileged(dir)
	if err != nil {
		return nil, err
	}
	if err := makeCluster(bin, dir, who); err != nil {
		return nil, err
	}
	life, err := guard(bin, dir, who)
	if err != nil {
		return nil, err
	}
	return &server{dir: dir, life: life}, awaitPostgres(dir)
}

// guard starts the server from a shell that waits for the end of its standard input, which is the end of this process.
// Neither inherits stdout, for whose end `go test` would wait.
func guard(bin, dir string, who *syscall.SysProcAttr) (life io.Closer, err error) {
	// fsync=off is safe, because the data need not survive a crash. max_connections allows parallel tests, some of
	// which have two stores with 16 connections each.
	const script = `"$0/postgres" -D "$1/data" -k "$1" -c listen_addresses= -c fsync=off -c full_page_writes=off \
		-c synchronous_commit=off -c max_connections=200 </dev/null >"$1/log" 2>&1 &
		read -r _; kill -QUIT $!; wait $!; rm -rf "$1"`
	cmd := exec.Command("sh", "-c", script, bin, dir)
	cmd.Dir, cmd.SysProcAttr = dir, who
	// an interrupt (Ctrl+C) reaches only the test process; the guard then stops the server
	cmd.SysProcAttr.Setpgid = true
	if life, err = cmd.StdinPipe(); err != nil {
		return nil, err
	}
	return life, cmd.Start()
}

func awaitPostgres(dir string) error {
	db, err := sql.Open("pgx", url(dir))
	if err != nil {
		return err
	}
	defer db.Close()
	// The limit is a minute, for a machine that also compiles; an idle one needs half a second.
	for range 2400 {
		if err = db.Ping(); err == nil {
			return nil
		}
		time.Sleep(25 * time.Millisecond)
	}
	log, _ := os.ReadFile(dir + "/log")
	return fmt.Errorf("the server did not answer within a minute: %w: %s", err, bytes.TrimSpace(log))
}

// unprivileged gives the directory to another user if this process runs as root, because PostgreSQL refuses to run as
// root.
func unprivileged(dir string) (*syscall.SysProcAttr, error) {
	if os.Getuid() != 0 {
		return &syscall.SysProcAttr{}, nil
	}
	nobody, err := user.Lookup("nobody")
	if err != nil {
		return nil, err
	}
	uid, errU := strconv.Atoi(nobody.Uid)
	gid, errG := strconv.Atoi(nobody.Gid)
	if err := errors.Join(errU, errG, os.Chown(dir, uid, gid)); err != nil {
		return nil, err
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}, nil
}

func findPostgres() (string, error) {
	found, err := filepath.Glob("/usr/lib/postgresql/*/bin/postgres")
	if err == nil && len(found) > 0 {
		return filepath.Dir(found[len(found)-1]), nil
	}
	path, err := exec.LookPath("postgres")
	if err != nil {
		return "", errors.New("there is no PostgreSQL here; install it with: apt-get install postgresql")
	}
	return filepath.Dir(path), nil
}
