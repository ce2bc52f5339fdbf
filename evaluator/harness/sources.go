package harness

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"path"
	"sync"

	"warpboard/tasks"
)

//go:embed programs
var programFiles embed.FS

// Sources returns Warpboard's own harness for a task format and language: the content of each file, by the name that it
// has in the folder of the task's files.
func Sources(form tasks.Protocol, lang tasks.Lang) map[string][]byte {
	if form == tasks.ProtocolLegacy {
		return legacyHarnessSources(lang)
	}
	switch lang {
	case tasks.LangCPP:
		return embeddedFiles("common/*", "cpp/*")
	case tasks.LangCUDA:
		return embeddedFiles("common/*", "cu/*")
	case tasks.LangPython:
		return embeddedFiles("py/*")
	default:
		return nil
	}
}

func legacyHarnessSources(lang tasks.Lang) map[string][]byte {
	native := []string{"common/warpboard_*", "cpp/warpboard_host.h", "legacy/warpboard_legacy_[kt]*.h"}
	switch lang {
	case tasks.LangCPP:
		return embeddedFiles(append(native, "legacy/*.cpp")...)
	case tasks.LangCUDA:
		return embeddedFiles(append(native, "legacy/*.cu", "legacy/warpboard_legacy_gpu.h")...)
	case tasks.LangPython:
		return embeddedFiles("legacy/warpboard_legacy.py", "py/warpboard_*.py")
	default:
		return nil
	}
}

// CoreSources returns the sources of the judge's core of Python programs, by name.
func CoreSources() map[string][]byte { return embeddedFiles("core/*", "common/*", "cu/*.h") }

// Digest returns a hash of all harness programs. Workers with the same digest measure in the same way. It is computed
// once, because each heartbeat contains it for each slot.
func Digest() string { return harnessDigest() }

var harnessDigest = sync.OnceValue(func() string {
	sum := sha256.New()
	err := fs.WalkDir(programFiles, "programs", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := programFiles.ReadFile(name)
		fmt.Fprintf(sum, "%s %d\n%s", name, len(text), text)
		return err
	})
	if err != nil {
		panic(err) // cannot happen: the files are embedded
	}
	return hex.EncodeToString(sum.Sum(nil))[:12]
})

// RunnerSources returns the programs of a warm Python (package warm).
func RunnerSources() map[string][]byte { return embeddedFiles("runner/*") }

// embeddedFiles returns the embedded files that match the patterns, by base name.
func embeddedFiles(patterns ...string) map[string][]byte {
	files := map[string][]byte{}
	for _, pattern := range patterns {
		names, err := programFiles.ReadDir("programs/" + path.Dir(pattern))
		if err != nil {
			panic(err) // cannot happen: the patterns match embedded files
		}
		for _, entry := range names {
			if ok, _ := path.Match(path.Base(pattern), entry.Name()); !ok {
				continue
			}
			text, err := programFiles.ReadFile("programs/" + path.Dir(pattern) + "/" + entry.Name())
			if err != nil {
				panic(err)
			}
			files[entry.Name()] = text
		}
	}
	return files
}
