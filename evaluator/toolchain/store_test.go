package toolchain

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

func TestStoreGivesBackWhatItWasGivenOrNothing(t *testing.T) {
	s := newObjectStore(filepath.Join(t.TempDir(), "made", "when", "needed"))
	k := hashParts("a", "b")
	if _, ok := s.get(k); ok {
		t.Error("an empty store has something")
	}
	if err := s.put(k, []byte("object")); err != nil {
		t.Fatal(err)
	}
	if got, ok := s.get(k); !ok || string(got) != "object" {
		t.Errorf("got %q, %v", got, ok)
	}
	for name, damage := range map[string]func([]byte) []byte{
		"changed": func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"cut":     func(b []byte) []byte { return b[:len(b)-2] },
		"empty":   func([]byte) []byte { return nil },
	} {
		content, err := os.ReadFile(s.objectPath(k))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(s.objectPath(k), damage(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, ok := s.get(k); ok {
			t.Errorf("%s: got %q", name, got)
		}
		if err := s.put(k, []byte("object")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStoreForgetsTheLeastRecentlyUsed(t *testing.T) {
	s := newObjectStore(t.TempDir())
	s.maxBytes, s.minFreeBytes = 1000, 0
	old, used := hashParts("old"), hashParts("used")
	for _, k := range []string{old, used} {
		if err := s.put(k, make([]byte, 400)); err != nil {
			t.Fatal(err)
		}
		past := time.Now().Add(-time.Hour)
		if err := os.Chtimes(s.objectPath(k), past, past); err != nil {
			t.Fatal(err)
		}
	}
	s.get(used)
	if err := s.put(hashParts("new"), make([]byte, 400)); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.get(old); ok {
		t.Error("the oldest is still there")
	}
	if _, ok := s.get(used); !ok {
		t.Error("what was just used is gone")
	}
}

func TestStoreLeavesDiskSpaceFree(t *testing.T) {
	s := newObjectStore(t.TempDir())
	first, second := hashParts("first"), hashParts("second")
	if err := s.put(first, []byte("a")); err != nil {
		t.Skip("this disk has less than ", minFreeBytes, " bytes free: ", err)
	}
	s.minFreeBytes = 1 << 60
	if err := s.put(second, []byte("b")); err == nil {
		t.Error("a full disk gets more")
	}
	for _, k := range []string{first, second} {
		if _, ok := s.get(k); ok {
			t.Error("something is left on a full disk")
		}
	}
}

// TestWorkersThatShareAStoreMayClearItAtTheSameTime has several stores on one directory, like workers in separate
// processes.
func TestWorkersThatShareAStoreMayClearItAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	var workers errgroup.Group
	for worker := range 2 {
		workers.Go(func() error {
			s := &objectStore{dir: dir, maxBytes: 16 << 10}
			for i := range 100 {
				if err := s.put(hashParts(fmt.Sprint(worker, i)), make([]byte, 1<<10)); err != nil {
					return err
				}
			}
			return nil
		})
	}
	if err := workers.Wait(); err != nil {
		t.Error(err)
	}
}

func TestKeysOfDifferentListsDiffer(t *testing.T) {
	if hashParts("ab", "c") == hashParts("a", "bc") || hashParts("a") == hashParts("a", "") {
		t.Error("two lists share a key")
	}
	one := hashFiles(map[string][]byte{"a": []byte("b"), "c": []byte("d")})
	if one != hashFiles(map[string][]byte{"c": []byte("d"), "a": []byte("b")}) ||
		one == hashFiles(map[string][]byte{"a": []byte("bc"), "": []byte("d")}) {
		t.Error("keys of files depend on something else than the files")
	}
}

func TestCompiledKernelsAreRecalledOnlyForTheirOwner(t *testing.T) {
	b := newBuilder()
	k := KernelCacheKey{Owner: t.Name(), Arch: "90", SourceText: "kernels"}
	b.StoreKernels([]byte("archive"), k)
	if got := string(b.LoadKernels(k)); got != "archive" {
		t.Errorf("got %q", got)
	}
	for name, other := range map[string]KernelCacheKey{
		"owner": {"another", k.Arch, k.SourceText}, "arch": {k.Owner, "80", k.SourceText}, "kernels": {k.Owner, k.Arch,
			"others"},
	} {
		if got := b.LoadKernels(other); got != nil {
			t.Errorf("another %s: got %q", name, got)
		}
	}
	none := KernelCacheKey{Arch: k.Arch, SourceText: k.SourceText}
	b.StoreKernels([]byte("archive"), none)
	if got := b.LoadKernels(none); got != nil {
		t.Errorf("for no one %q is kept", got)
	}
}
