package toolchain

import (
	"archive/tar"
	"bytes"
	"testing"
	"time"

	"warpboard/evaluator/job"
)

func TestTheNextBuildRunsInTheSameRunner(t *testing.T) {
	b := newBuilder()
	first := pyJob(t, "correct.py")
	req := StageRequest{Mode: "test", Cases: first.Task.Tests}
	a, _ := mustBuild(t, b, first)
	p := mustOpen(t, b, a)
	if r := runStage(t, p, req, len(req.Cases)); r.status != job.StatusPass {
		t.Fatalf("first build: %s (%s)", r.status, r.failure.Reason)
	}
	wrong, _ := mustBuild(t, b, pyJob(t, "wrong.py"))
	next := p.Next(wrong)
	if next == nil || !next.IsWarm() {
		t.Fatal("the runner was not handed over")
	}
	t.Cleanup(func() { next.Close() })
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if r := runStage(t, next, req, len(req.Cases)); r.status != job.StatusFail {
		t.Errorf("second build: %s (%s)", r.status, r.failure.Reason)
	}
}

// extensionsEval prints the compiled extensions that it finds.
const extensionsEval = reportFunction + `
import os
top = os.environ["TORCH_EXTENSIONS_DIR"]
report(*sorted(os.path.join(os.path.relpath(folder, top), name) for folder, _, names in os.walk(top) for name in names))
`

// TestExtensionsGoIntoARunnerThatHasServedOthers checks that a program with compiled extensions can reuse a warm
// runner, because a new one would import torch, for up to 13 s. Other programs must not find the extensions.
func TestExtensionsGoIntoARunnerThatHasServedOthers(t *testing.T) {
	b := newBuilder()
	plain, _ := mustBuild(t, b, bundle(extensionsEval))
	var archive bytes.Buffer
	packed := tar.NewWriter(&archive)
	for name, text := range map[string]string{"one/one.so": "code", "times.json": `{"one/one.so": 1}`} {
		if err := packed.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := packed.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := packed.Close(); err != nil {
		t.Fatal(err)
	}
	extended, broken := *plain, *plain
	extended.extensionArchives = map[string][]byte{plain.sources.SubmittedFiles[0]: archive.Bytes()}
	broken.extensionArchives = map[string][]byte{plain.sources.SubmittedFiles[0]: []byte("no archive")}
	p := mustOpen(t, b, plain)
	if got := output(t, p); got != "\ncheck: pass\n" {
		t.Errorf("the first program found %q", got)
	}
	for _, c := range []struct {
		a    *Artifact
		want string
	}{{&extended, "one/one.so\ncheck: pass\n"}, {plain, "\ncheck: pass\n"}, {&extended, "one/one.so\ncheck: pass\n"}} {
		if p = p.Next(c.a); p == nil || !p.IsWarm() {
			t.Fatal("the runner was not handed over")
		}
		t.Cleanup(func() { p.Close() })
		if got := output(t, p); got != c.want {
			t.Errorf("found %q, want %q", got, c.want)
		}
	}
	p = p.Next(&broken)
	t.Cleanup(func() { p.Close() })
	if out, err := p.RunStage(t.Context(), StageRequest{Mode: "test", Timeout: time.Minute}); err != nil || out.ExitCode != 1 {
		t.Errorf("a broken archive: exit code %d, %v", out.ExitCode, err)
	}
}
