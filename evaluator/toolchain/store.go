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

	"golang.org/x/sys/unix"
)

// maxStoreBytes is the size of a store above which the least recently used files are deleted, in bytes. The size is
// checked each time a sixteenth of it was added, so the disk needs a little more.
const maxStoreBytes = 8 << 30

// minFreeBytes is the free disk space in bytes that a store leaves to others: more than a site or worker needs to accept
// work.
const minFreeBytes = 1 << 30

// unfinishedFileAge is the age from which a temporary file counts as left by a process that died.
const unfinishedFileAge = time.Hour

// objectStore keeps build products on disk by the hash of all their inputs. Files appear atomically; a file that does
// not match its checksum counts as missing.
//
// mu guards addedBytes, and lets only one goroutine of this process delete old files. Files need no lock: they are
// written under another name, renamed, and never changed. Several processes may share the directory.
type objectStore struct {
	dir                    string
	maxBytes, minFreeBytes int64
	mu                     sync.Mutex
	addedBytes             int64 // bytes since the last clearing
}

func newObjectStore(dir string) *objectStore {
	return &objectStore{dir: dir, maxBytes: maxStoreBytes, minFreeBytes: minFreeBytes}
}

// hashParts returns a hash of the parts. Different lists have different hashes.
func hashParts(parts ...string) string {
	h := sha256.New()
	for _, part := range parts {
		var size [8]byte
		binary.LittleEndian.PutUint64(size[:], uint64(len(part)))
		h.Write(size[:])
		h.Write([]byte(part))
	}
	return hex.EncodeToString(h.Sum(nil))
}

// hashFiles returns a hash of the names and contents of files.
func hashFiles(files map[string][]byte) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(files)) {
		parts = append(parts, name, string(files[name]))
	}
	return hashParts(parts...)
}

func (s *objectStore) objectPath(key string) string { return filepath.Join(s.dir, key[:2], key) }

// get returns the data stored under key; ok is false if there is none.
func (s *objectStore) get(key string) ([]byte, bool) {
	content, err := os.ReadFile(s.objectPath(key))
	if err != nil || len(content) < sha256.Size {
		return nil, false
	}
	sum, data := content[:sha256.Size], content[sha256.Size:]
	if want := sha256.Sum256(data); !bytes.Equal(sum, want[:]) {
		return nil, false
	}
	now := time.Now()
	_ = os.Chtimes(s.objectPath(key), now, now) // best effort: marks it as recently used
	return data, true
}

// put stores the joined parts under key.
func (s *objectStore) put(key string, parts ...[]byte) error {
	size := 0
	for _, part := range parts {
		size += len(part)
	}
	if err := os.MkdirAll(filepath.Dir(s.objectPath(key)), 0o700); err != nil {
		return fmt.Errorf("make the object cache: %w", err)
	}
	if err := s.evictFiles(int64(size)); err != nil {
		return err
	}
	target := s.objectPath(key)
	file, err := os.CreateTemp(filepath.Dir(target), "new-*")
	if err != nil {
		return fmt.Errorf("write to the object cache: %w", err)
	}
	defer os.Remove(file.Name()) // already renamed on success
	hash := sha256.New()
	for _, part := range parts {
		hash.Write(part)
	}
	// The parts are not joined in memory, because a program can have a hundred megabytes.
	for _, part := range slices.Concat([][]byte{hash.Sum(nil)}, parts) {
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
	return nil
}

// evictFiles deletes the least recently used files if the store would exceed its limit, or leave too little of the disk,
// with another file of the given size. It checks the limit only after a sixteenth of it was added.
func (s *objectStore) evictFiles(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addedBytes += size
	lacking, err := s.lackingBytes(size)
	if err != nil || s.addedBytes < s.maxBytes/16 && lacking == 0 {
		return err
	}
	s.addedBytes = 0
	type cachedFile struct {
		path string
		info fs.FileInfo
	}
	var files []cachedFile
	var total int64
	err = filepath.WalkDir(s.dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		beingWritten := strings.HasPrefix(d.Name(), "new-") && err == nil && time.Since(info.ModTime()) < unfinishedFileAge
		if err == nil && !beingWritten {
			files, total = append(files, cachedFile{path, info}), total+info.Size()
		}
		return nil // another process may have removed the file in the meantime
	})
	if err != nil {
		return fmt.Errorf("look through the object cache: %w", err)
	}
	slices.SortFunc(files, func(a, b cachedFile) int { return a.info.ModTime().Compare(b.info.ModTime()) })
	most := min(s.maxBytes-size, total-lacking)
	for _, f := range files {
		if total <= most {
			break
		}
		// Another worker of the machine may have deleted the file.
		if err := os.Remove(f.path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("clear the object cache: %w", err)
		}
		total -= f.info.Size()
	}
	if lacking, err = s.lackingBytes(size); err == nil && lacking > 0 {
		err = errors.New("too little of the disk is free for the object cache")
	}
	return err
}

// lackingBytes returns the bytes that the disk lacks for another file of the given size.
func (s *objectStore) lackingBytes(size int64) (int64, error) {
	var disk unix.Statfs_t
	if err := unix.Statfs(s.dir, &disk); err != nil {
		return 0, fmt.Errorf("look at the disk of the object cache: %w", err)
	}
	return max(0, size+s.minFreeBytes-int64(disk.Bavail)*disk.Bsize), nil
}

// keep stores the joined parts under key. A full disk is no error: what is not stored is made again.
func (b *Builder) keep(key string, parts ...[]byte) {
	if err := b.objects.put(key, parts...); err != nil {
		b.cfg.Log.Warn("a build product is not stored", "err", err)
	}
}

// KernelCacheKey identifies compiled kernels and the machine's tools. It contains the owner, because the owner's
// process compiled them and may have written anything.
type KernelCacheKey struct {
	Owner      string // nothing is stored if empty
	Arch       string // compute capability of the GPU
	SourceText string // sources of the kernels and of the program that compiles them
}

// LoadKernels returns the archive that StoreKernels stored under the same key, or nil.
func (b *Builder) LoadKernels(k KernelCacheKey) []byte {
	if k.Owner == "" || b.cfg.Toolchain.Python == nil {
		return nil
	}
	data, _ := b.objects.get(b.kernelCacheKey(k))
	return data
}

// StoreKernels stores an archive of compiled kernels for later programs of the same owner with the same kernels.
func (b *Builder) StoreKernels(data []byte, k KernelCacheKey) {
	if k.Owner == "" || b.cfg.Toolchain.Python == nil {
		return
	}
	b.keep(b.kernelCacheKey(k), data)
}

func (b *Builder) kernelCacheKey(k KernelCacheKey) string {
	python := b.cfg.Toolchain.Python
	return hashParts("kernels", k.Owner, python.Version, fmt.Sprint(python.Packages), b.nvccVersion(), marchTarget(), k.Arch, k.SourceText)
}
