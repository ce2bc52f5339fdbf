package toolchain

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

// storeLimit is how many bytes a store keeps; the least recently used files go first.
// It is looked at after a sixteenth was added, so that the disk needs a little more than this.
const storeLimit = 8 << 30

// unfinishedFor is after when a file that never got its name is left of a process that died.
const unfinishedFor = time.Hour

// store keeps build products on disk by the hash of all their inputs. Files appear atomically, and one that does not match
// its own checksum counts as missing.
//
// mu guards added and lets one goroutine of this process clear at a time; files need no lock, since they are written under
// another name and renamed. Several processes may share the folder. No file is ever changed, so that a reader gets the old
// content or none.
type store struct {
	dir   string
	limit int64
	mu    sync.Mutex
	added int64 // bytes since the last clearing
}

func newStore(dir string) *store { return &store{dir: dir, limit: storeLimit} }

// key hashes parts so that no two different lists share a key.
func key(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// filesKey hashes names and texts.
func filesKey(files map[string][]byte) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, string(files[name]))
	}
	return key(parts...)
}

func (s *store) path(key string) string { return filepath.Join(s.dir, key[:2], key) }

// get returns what is kept under key.
func (s *store) get(key string) ([]byte, bool) {
	content, err := os.ReadFile(s.path(key))
	if err != nil || len(content) < sha256.Size {
		return nil, false
	}
	sum, data := content[:sha256.Size], content[sha256.Size:]
	if want := sha256.Sum256(data); !bytes.Equal(sum, want[:]) {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(s.path(key), now, now) // only makes it stay longer
	return data, true
}

// mkdir makes the folder of what is to be kept under key: a caller that compiles for the store learns first that nothing can be
// kept there.
func (s *store) mkdir(key string) error {
	if err := os.MkdirAll(filepath.Dir(s.path(key)), 0o700); err != nil {
		return fmt.Errorf("make the object cache: %w", err)
	}
	return nil
}

// put keeps data under key: the parts together.
func (s *store) put(key string, parts ...[]byte) error {
	if err := s.mkdir(key); err != nil {
		return err
	}
	target := s.path(key)
	file, err := os.CreateTemp(filepath.Dir(target), "new-*")
	if err != nil {
		return fmt.Errorf("write to the object cache: %w", err)
	}
	defer os.Remove(file.Name()) // gone already when all went well
	hash, size := sha256.New(), 0
	for _, part := range parts {
		hash.Write(part)
		size += len(part)
	}
	for _, part := range slices.Concat([][]byte{hash.Sum(nil)}, parts) { // not joined: a program may have a hundred megabytes
		if err == nil {
			_, err = file.Write(part)
		}
	}
	if err := cmp.Or(err, file.Close()); err != nil {
		return fmt.Errorf("write to the object cache: %w", err)
	}
	if err := os.Rename(file.Name(), target); err != nil {
		return fmt.Errorf("write to the object cache: %w", err)
	}
	return s.clear(int64(size))
}

// clear removes the least recently used files when the store has outgrown its limit. It looks only
// after a sixteenth of the limit has been added.
func (s *store) clear(added int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.added += added
	if s.added < s.limit/16 {
		return nil
	}
	s.added = 0
	type kept struct {
		path string
		info fs.FileInfo
	}
	var files []kept
	var total int64
	err := filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		beingWritten := strings.HasPrefix(d.Name(), "new-") && err == nil && time.Since(info.ModTime()) < unfinishedFor
		if err == nil && !beingWritten {
			files, total = append(files, kept{path, info}), total+info.Size()
		}
		return nil // a file that is gone by now needs no clearing
	})
	if err != nil {
		return fmt.Errorf("look through the object cache: %w", err)
	}
	slices.SortFunc(files, func(a, b kept) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	for _, f := range files {
		if total <= s.limit {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) { // else another worker of the machine was quicker
			return fmt.Errorf("clear the object cache: %w", err)
		}
		total -= f.info.Size()
	}
	return nil
}

// RecallKey has everything, beside the machine's tools, that determines the compiled form of a program's kernels. The owner
// is part of it, because the owner's own process compiled them, and may have written anything.
type RecallKey struct {
	Owner string // whom it is for; nothing is kept for no one
	Arch  string // of the GPU
	Text  string // the kernels, and the program that compiles them
}

// Recall returns the archive that Remember stored for the same key, or nil.
func (b *Builder) Recall(k RecallKey) []byte {
	if k.Owner == "" || b.cfg.Tools.Python == nil {
		return nil
	}
	data, _ := b.store.get(b.recallKey(k))
	return data
}

// Remember keeps what a program compiled, for the next one of the same owner that has the same kernels.
func (b *Builder) Remember(data []byte, k RecallKey) {
	if k.Owner == "" || b.cfg.Tools.Python == nil {
		return
	}
	if err := b.store.put(b.recallKey(k), data); err != nil {
		b.cfg.Log.Warn("compiled kernels not kept", "err", err)
	}
}

func (b *Builder) recallKey(k RecallKey) string {
	python := b.cfg.Tools.Python
	return key("kernels", k.Owner, python.Version, fmt.Sprint(python.Packages), b.nvccVersion(), processor(), k.Arch, k.Text)
}
