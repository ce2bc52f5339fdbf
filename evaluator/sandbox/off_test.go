package sandbox

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestPathsAreMappedWhereThereIsNoSandbox(t *testing.T) {
	in := pathMapping{{"/host/in", "/in"}, {"/host/out", "/out"}, {"/host/tmp", "/tmp"}, {"/cache", "/in/cache"}}
	tests := map[string]string{
		"/in":                 "/host/in",
		"/in/a.cpp":           "/host/in/a.cpp",
		"-I/in/include":       "-I/host/in/include",
		"--output=/out/a":     "--output=/host/out/a",
		"/in/a:/usr/lib:/out": "/host/in/a:/usr/lib:/host/out",
		"-Wl,-rpath,/out/lib": "-Wl,-rpath,/host/out/lib",
		"/in/cache/x":         "/cache/x",
		"/inside/in":          "/inside/in",
		"/usr/in/x":           "/usr/in/x",
		"plain":               "plain",
		"":                    "",
	}
	for arg, want := range tests {
		if got := in.mapArgument(arg); got != want {
			t.Errorf("argument(%q) = %q, want %q", arg, got, want)
		}
	}
}

func TestSandboxOffRunsWithLimitsAndSaysSo(t *testing.T) {
	root := filepath.Join(t.TempDir(), "runs")
	sb := New(Config{Disabled: true, RunDir: root})
	lines := sb.SelfTest(context.Background())
	if sb.Name() != "off" || !sb.Disabled() || len(lines) != 1 || !strings.Contains(lines[0].Detail, "OFF") {
		t.Errorf("name %q, self-test %+v", sb.Name(), lines)
	}
	mount := t.TempDir()
	if err := os.WriteFile(filepath.Join(mount, "object"), []byte("cached "), 0o644); err != nil {
		t.Fatal(err)
	}
	o, err := sb.Run(context.Background(), Spec{
		Argv:         []string{"/bin/sh", "/in/script", "/out/made"},
		Files:        map[string][]byte{"script": []byte("cat $OBJECT; ulimit -n; pwd >$1; echo $HOME >&2; exit 3")},
		Env:          map[string]string{"OBJECT": "/cache/object"},
		WorkingDir:   "/out",
		Mounts:       []Mount{{HostPath: mount, InsidePath: "/cache"}},
		Limits:       Limits{WallTime: 10 * time.Second, OpenFiles: 99},
		CollectFiles: map[string]int64{"made": 1000},
	})
	if err != nil {
		t.Fatal(err)
	}
	if o.Stdout != "cached 99\n" || o.ExitCode != 3 || !strings.HasPrefix(o.Stderr, root) {
		t.Errorf("outcome %+v", o)
	}
	if got := string(o.Files["made"]); !strings.HasPrefix(got, root) || !strings.HasSuffix(got, "/out\n") {
		t.Errorf("it worked in %q", got)
	}
	wrote := make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	p, err := sb.Start(ctx, Spec{
		Argv:     []string{"/bin/sh", "-c", "echo a; sleep 1000 & sleep 1000"},
		OnStdout: func([]byte) { close(wrote) },
	})
	if err != nil {
		t.Fatal(err)
	}
	<-wrote
	cancel()
	o, err = p.Wait()
	if err != nil || !o.Cancelled || o.Signal != "SIGKILL" || o.Stdout != "a\n" {
		t.Errorf("outcome %+v, %v", o, err)
	}
	o, err = sb.Run(t.Context(), Spec{Argv: []string{"/bin/sleep", "1000"},
		Limits: Limits{WallTime: 20 * time.Millisecond}})
	if err != nil || o.ExceededLimit != "wall" || o.Signal != "SIGKILL" {
		t.Errorf("outcome %+v, %v", o, err)
	}
	o, err = sb.Run(context.Background(), Spec{Argv: []string{"/bin/sh", "-c", "kill -SEGV $$"}})
	if err != nil || o.Signal != "SIGSEGV" || o.ExitCode != 139 {
		t.Errorf("outcome %+v, %v", o, err)
	}
	if entries, err := os.ReadDir(root); err != nil || len(entries) > 0 {
		t.Errorf("left in the scratch directory: %v, %v", entries, err)
	}
}
