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

// PassRecord records in a directory which tests passed, by software and device. After a restart with the same software
// a worker accepts jobs at once and runs the tests later, while the slot is idle. An empty Dir records nothing. A
// record is an empty file whose name is the key and whose modification time is the time of the test. Several workers
// may share the directory, because files are created and removed atomically. Anyone who can write there can make a slot
// skip its tests, so only the machine's operator should.
type PassRecord struct{ Dir string }

// Key returns the key of a test of the named subject, from the software and the device in m. It ignores the worker's
// name and the benchmark, which changes.
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

// PassedAt returns the time at which the test with a key passed, or the zero time.
func (p PassRecord) PassedAt(key string) time.Time {
	if p.Dir == "" {
		return time.Time{}
	}
	info, err := os.Stat(filepath.Join(p.Dir, key))
	// If the directory cannot be read, the slot is tested.
	if err != nil {
		return time.Time{}
	}
	return info.ModTime()
}

// Record records that the test with a key passed now, or removes the record of a failed one.
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
