package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
)

func main() {
	out := flag.String("out", "dist", "folder for the built files")
	check := flag.Bool("check", false, "build again, elsewhere and with an empty cache, and compare")
	flag.Parse()
	if err := buildAndCheckRelease(*out, *check); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func buildAndCheckRelease(out string, check bool) error {
	if err := buildRelease(out, ""); err != nil || !check {
		return err
	}
	again, err := os.MkdirTemp("", "warpboard-release-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(again)
	if err := buildRelease(filepath.Join(again, "dist"), filepath.Join(again, "cache")); err != nil {
		return err
	}
	return compareDirs(out, filepath.Join(again, "dist"))
}

// buildRelease builds the current commit, without uncommitted changes. If cache is "", the Go cache of the user is
// used.
func buildRelease(out, cache string) error {
	src, err := os.MkdirTemp("", "warpboard-source-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(src)
	if out, err = filepath.Abs(out); err != nil {
		return err
	}
	if err := wrapErrors(os.RemoveAll(out), os.MkdirAll(out, 0o755)); err != nil {
		return err
	}
	if _, err := commandOutput(".", nil, "git", "clone", "--quiet", "--no-hardlinks", ".", src); err != nil {
		return err
	}
	env := []string{"CGO_ENABLED=1", "CGO_CFLAGS=-O2 -Wno-deprecated-declarations", "GOFLAGS="}
	if cache != "" {
		env = append(env, "GOCACHE="+cache)
	}
	name := fmt.Sprintf("warpboard-%s-%s", runtime.GOOS, runtime.GOARCH)
	binary := filepath.Join(out, name)
	if _, err := commandOutput(src, env, "go", "build", "-trimpath", "-buildvcs=true", "-tags", "netgo,osusergo", "-ldflags", "-s -w -buildid=", "-o", binary, "."); err != nil {
		return err
	}
	if err := writeLicenses(src, out, binary); err != nil {
		return err
	}
	return writeChecksums(out)
}

// commandOutput runs a program and returns its output.
func commandOutput(dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	printed, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.String())
	}
	return printed, nil
}

func writeChecksums(out string) error {
	files, err := os.ReadDir(out)
	if err != nil {
		return err
	}
	var sums strings.Builder
	for _, file := range files {
		content, err := os.ReadFile(filepath.Join(out, file.Name()))
		if err != nil {
			return err
		}
		fmt.Fprintf(&sums, "%x  %s\n", sha256.Sum256(content), file.Name())
	}
	fmt.Print(sums.String())
	return os.WriteFile(filepath.Join(out, "SHA256SUMS"), []byte(sums.String()), 0o644)
}

// compareDirs compares two directories by the checksums of their files.
func compareDirs(a, b string) error {
	first, err := os.ReadFile(filepath.Join(a, "SHA256SUMS"))
	if err != nil {
		return err
	}
	second, err := os.ReadFile(filepath.Join(b, "SHA256SUMS"))
	if err != nil {
		return err
	}
	if !bytes.Equal(first, second) {
		return fmt.Errorf("two builds of one commit differ:\n%s\n%s", first, second)
	}
	fmt.Println("a second build, elsewhere and from nothing, is the same")
	return nil
}

func wrapErrors(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}
