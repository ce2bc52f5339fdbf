package selftest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"warpboard/evaluator/job"
)

// PassRecord records in a directory which tests passed, by software and device. After a restart with the same ones, a
// worker takes jobs at once and runs the tests later, while the slot is idle. An empty Dir records nothing. A mark is
// an empty file named by the key; its modification time is the time of the test. Several workers may share the
// directory: marks are created and removed atomically. Anyone who can write there can make a slot skip its tests, so
// only the machine's operator should.
type PassRecord struct{ Dir string }

// Key identifies a test by its software and device. It ignores the worker's name and the benchmark, which is different
// each time.
func Key(what string, m job.Machine) string {
	m.Worker, m.SlotBenchmark = "", nil
	text, err := json.Marshal(struct {
		What    string
		Machine job.Machine
	}{what, m})
	if err != nil {
		return "" // cannot happen: a Machine is always encodable
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:16])
}

// PassedAt returns the time when the test passed, or the zero time.
func (p PassRecord) PassedAt(key string) time.Time {
	if p.Dir == "" {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(p.Dir, key))
	// A directory that cannot be read counts as empty, so the slot is tested.
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Record records that the test passed just now, or removes the mark of a failed one.
func (p PassRecord) Record(key string, passed bool) error {
	if p.Dir == "" {
		return nil
	}
	path := filepath.Join(p.Dir, key)
	if !passed {
		if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("forget a self-test: %w", err)
		}
		return nil
	}
	err := os.MkdirAll(p.Dir, 0o700)
	if err == nil {
		err = os.WriteFile(path, nil, 0o600)
	}
	if err == nil {
		err = os.Chtimes(path, time.Time{}, time.Now())
	}
	if err != nil {
		return fmt.Errorf("remember a self-test: %w", err)
	}
	return nil
}
