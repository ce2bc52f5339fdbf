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

// ReferenceKernel is the reference kernel for attacks on /compare.
//
//go:embed reference/waves.py
var ReferenceKernel string

//go:embed cpu gpu tasks
var attackFiles embed.FS

// Verdict is the site's reaction to an attack.
type Verdict string

const (
	VerdictRefused        Verdict = "refused"         // no time is shown
	VerdictScoredHonestly Verdict = "scored honestly" // the shown time is the actual time
	VerdictStageLimit     Verdict = "limit"           // the attack reaches a limit of the stage
)

// Attack is one attack of the corpus, a directory with attack.yml, which is flat (one line per field) because scripts
// read it, too.
type Attack struct {
	Name        string     `yaml:"-"`
	Title       string     `yaml:"title"`
	Family      string     `yaml:"family"` // one of Families
	Description string     `yaml:"tries"`  // a sentence or two about the attack's method
	Lang        tasks.Lang `yaml:"lang"`
	Device      string     `yaml:"device"` // cpu or gpu
	// Task is a task of the corpus, a built-in task, or an endpoint of the evaluation API (/evaluate, /compare).
	Task            string  `yaml:"task"`
	ExpectedVerdict Verdict `yaml:"expect"`
	VerdictWhenBusy Verdict `yaml:"busy"`    // another allowed verdict, by chance or on a busy machine
	ExpectedReason  string  `yaml:"reason"`  // part of the failure reason that the site must show; empty if it varies
	InputSize       int     `yaml:"size"`    // input size, instead of that of the task's benchmarks
	TimeoutSeconds  int     `yaml:"timeout"` // limit of a stage in seconds; 0: as in the task
	// ProcessCount is the number of processes that measure the attack; 0 means one.
	ProcessCount int `yaml:"processes"`
	// GPUCount is the number of GPUs that the attack's task needs; 0 means one. Mode is the mode of its run: "" means
	// ranked; with "profile" the attack counts as refused if no profile is shown. scripts/attack-check runs attacks
	// with either field only by name.
	GPUCount int    `yaml:"gpus"`
	Mode     string `yaml:"mode"`
	// ReasonWhenBusy is another allowed ExpectedReason, for a busy machine on which the judge stops waiting for a call
	// of a delayed runner.
	ReasonWhenBusy string `yaml:"busy_reason"`

	Submission []byte `yaml:"-"`
	HonestTwin []byte `yaml:"-"`
}

// AllowsVerdict reports whether v is one of the attack's allowed verdicts.
func (a Attack) AllowsVerdict(v Verdict) bool {
	return v == a.ExpectedVerdict || v == a.VerdictWhenBusy
}

// AllowsReason reports whether reason is one of the attack's allowed reasons.
func (a Attack) AllowsReason(reason string) bool {
	return strings.Contains(reason, a.ExpectedReason) ||
		a.ReasonWhenBusy != "" && strings.Contains(reason, a.ReasonWhenBusy)
}

// Families returns the groups of attacks, in the order of the site's list.
func Families() []string {
	return []string{"False clocks", "Done too early", "Work on other streams", "Work before the clock starts", "Kept or guessed answers",
		"Wrong answers that look right", "The judge's memory and messages", "Chosen and uneven calls", "Crashes, hangs, and exhausted resources"}
}

// IsEvaluation reports whether the attack targets the evaluation API instead of a task.
func (a Attack) IsEvaluation() bool { return strings.HasPrefix(a.Task, "/") }

// AllAttacks returns the attacks of the corpus, sorted by device and name.
func AllAttacks() ([]Attack, error) {
	folders, err := fs.Glob(attackFiles, "?pu/*/attack.yml")
	if err != nil {
		return nil, err
	}
	var all []Attack
	var problems []error
	for _, file := range folders {
		a, err := readAttack(path.Dir(file))
		if err != nil {
			problems = append(problems, fmt.Errorf("%s: %w", path.Dir(file), err))
		}
		all = append(all, a)
	}
	return all, errors.Join(problems...)
}

func readAttack(folder string) (Attack, error) {
	a := Attack{Name: path.Base(folder)}
	header, err := attackFiles.ReadFile(path.Join(folder, "attack.yml"))
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
	for _, v := range []Verdict{a.ExpectedVerdict, cmp.Or(a.VerdictWhenBusy, a.ExpectedVerdict)} {
		if !slices.Contains([]Verdict{VerdictRefused, VerdictScoredHonestly, VerdictStageLimit}, v) {
			return a, fmt.Errorf("no verdict is called %q", v)
		}
	}
	if a.Submission, err = attackFiles.ReadFile(path.Join(folder, "submission."+string(a.Lang))); err != nil {
		return a, err
	}
	a.HonestTwin, err = attackFiles.ReadFile(path.Join(folder, "twin."+string(a.Lang)))
	return a, err
}

// Tasks returns the tasks of the corpus.
func Tasks() ([]*tasks.Bundle, error) {
	sub, err := fs.Sub(attackFiles, "tasks")
	if err != nil {
		return nil, err
	}
	return tasks.OpenFolder(sub, tasks.ReadOptions{}).Bundles()
}
