package attacks

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks"
)

// Reference is the kernel that those of /compare are compared with.
//
//go:embed reference/waves.py
var Reference string

//go:embed cpu gpu tasks
var files embed.FS

// Verdict is how an attack must end.
type Verdict string

const (
	Refused Verdict = "refused"         // no time is shown
	Honest  Verdict = "scored honestly" // the shown time is the time that it took
	Limit   Verdict = "limit"           // it hits a limit of the stage's
)

// Attack is one folder of the corpus. attack.yml is flat, one line a field: scripts read it too.
type Attack struct {
	Name    string     `yaml:"-"`
	Title   string     `yaml:"title"`
	Family  string     `yaml:"family"` // one of Families
	Tries   string     `yaml:"tries"`  // how it works, in a sentence or two
	Lang    tasks.Lang `yaml:"lang"`
	Device  string     `yaml:"device"` // cpu or gpu
	Task    string     `yaml:"task"`   // one of the corpus's own, a built-in one, or the evaluation API's /evaluate or /compare
	Expect  Verdict    `yaml:"expect"`
	Busy    Verdict    `yaml:"busy"`    // another way in which it may end, by chance or on a busy machine; empty: none
	Reason  string     `yaml:"reason"`  // part of the sentence that a person reads; empty when it may vary
	Size    int        `yaml:"size"`    // of the input, in place of the task's own benchmarks'
	Timeout int        `yaml:"timeout"` // of a stage, in seconds; 0 means the task's
	// Processes is in how many fresh processes it is measured; 0 means one.
	Processes int `yaml:"processes"`
	// GPUs is how many its task needs; 0 means one. Mode is that of its run: ranked where it is empty, or profile, which is
	// refused if no profile is shown. scripts/attack-check runs attacks with either field only by name.
	GPUs int    `yaml:"gpus"`
	Mode string `yaml:"mode"`
	// BusyReason may stand for Reason where the machine keeps the runner from its core: the judge waits for a call only so
	// long, and then goes on. Empty: nothing may.
	BusyReason string `yaml:"busy_reason"`

	Submission []byte `yaml:"-"`
	Twin       []byte `yaml:"-"`
}

// Holds reports whether the attack may end so.
func (a Attack) Holds(v Verdict) bool { return v == a.Expect || v == a.Busy }

// Says reports whether the attack may end with this sentence.
func (a Attack) Says(reason string) bool {
	return strings.Contains(reason, a.Reason) || a.BusyReason != "" && strings.Contains(reason, a.BusyReason)
}

// Families are what attacks have in common, in the order in which the site lists them.
func Families() []string {
	return []string{"False clocks", "Done too early", "Work on other streams", "Work before the clock starts", "Kept or guessed answers",
		"Wrong answers that look right", "The judge's memory and messages", "Chosen and uneven calls", "Crashes, hangs, and exhausted resources"}
}

// IsEvaluation reports whether it is tried on the evaluation API, and not on a task.
func (a Attack) IsEvaluation() bool { return strings.HasPrefix(a.Task, "/") }

// All reads the corpus, by device and name.
func All() ([]Attack, error) {
	folders, err := fs.Glob(files, "?pu/*/attack.yml")
	if err != nil {
		return nil, err
	}
	var all []Attack
	var problems []error
	for _, file := range folders {
		a, err := read(path.Dir(file))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", path.Dir(file), err))
		}
		all = append(all, a)
	}
	return all, errors.Join(problems...)
}

func read(folder string) (Attack, error) {
	a := Attack{Name: path.Base(folder)}
	header, err := files.ReadFile(path.Join(folder, "attack.yml"))
	if err != nil {
		return a, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(header))
	decoder.KnownFields(true)
	if err := decoder.Decode(&a); err != nil {
		return a, err
	}
	if a.Device != path.Base(path.Dir(folder)) {
		return a, fmt.Errorf("device is %q", a.Device)
	}
	if a.Mode != "" && a.Mode != "profile" {
		return a, fmt.Errorf("mode is %q", a.Mode)
	}
	if !slices.Contains(Families(), a.Family) {
		return a, fmt.Errorf("no family is called %q", a.Family)
	}
	for _, v := range []Verdict{a.Expect, cmp.Or(a.Busy, a.Expect)} {
		if !slices.Contains([]Verdict{Refused, Honest, Limit}, v) {
			return a, fmt.Errorf("no verdict is called %q", v)
		}
	}
	if a.Submission, err = files.ReadFile(path.Join(folder, "submission."+string(a.Lang))); err != nil {
		return a, err
	}
	a.Twin, err = files.ReadFile(path.Join(folder, "twin."+string(a.Lang)))
	return a, err
}

// Tasks are the corpus's own.
func Tasks() ([]*tasks.Bundle, error) {
	sub, err := fs.Sub(files, "tasks")
	if err != nil {
		return nil, err
	}
	return tasks.OpenFolder(sub, tasks.Options{}).Bundles()
}
