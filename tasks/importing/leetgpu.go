package importing

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

const (
	challengeFile     = "challenge.py"
	maxStatementBytes = 128 << 10 // bytes of HTML
)

var (
	challengeClass = regexp.MustCompile(`(?m)^class Challenge\b`)
	challengeName  = regexp.MustCompile(`(?m)^\s+name = ["'](.+)["']`)
	severalGPUs    = regexp.MustCompile(`(?m)^\s+num_gpus = ([2-9]|\d\d+)`)
	performance    = regexp.MustCompile(`(?s)def generate_performance_test\b.*?(\n    def |\nclass |$)`)
	methods        = []string{"reference_impl", "get_solve_signature", "generate_example_test", "generate_functional_test",
		"generate_performance_test"}
)

// leetGPU returns a task for each folder with a challenge of LeetGPU.
func (r *reader) leetGPU() (list []Task) {
	for name, text := range r.texts {
		if dir := path.Dir(name); path.Base(name) == challengeFile {
			list = append(list, r.makeTask(dir, func(f *folder) error { return r.challenge(f, dir, string(text)) }))
		}
	}
	for name, err := range r.failed {
		if path.Base(name) == challengeFile {
			list = append(list, r.makeTask(name, func(*folder) error { return err }))
		}
	}
	return list
}

// challenge fills the folder of one challenge.
func (r *reader) challenge(f *folder, dir, text string) error {
	if !challengeClass.MatchString(text) {
		return fmt.Errorf("%s has no class Challenge at its top level", challengeFile)
	}
	for _, method := range methods {
		if !strings.Contains(text, "def "+method+"(") {
			return fmt.Errorf("%s has no method %s", challengeFile, method)
		}
	}
	if severalGPUs.MatchString(text) {
		return errors.New("needs several GPUs, and an imported task runs on one")
	}
	if found := challengeName.FindStringSubmatch(text); found != nil {
		f.title = found[1]
	}
	f.tolerance = tolerance{Matched: 1, Infinite: "equal"}
	for name, value := range map[string]*float64{"atol": &f.tolerance.ATol, "rtol": &f.tolerance.RTol} {
		found := regexp.MustCompile(`(?m)^\s+` + name + ` = ([\d.eE+-]+)`).FindStringSubmatch(text)
		if found == nil {
			return fmt.Errorf("%s gives no %s as a number", challengeFile, name)
		}
		var err error
		if *value, err = strconv.ParseFloat(found[1], 64); err != nil {
			return fmt.Errorf("%s gives %s no number: %s", challengeFile, name, found[1])
		}
	}
	text = r.reduceChallenge(f, text)
	f.tags = []string{"leetgpu"}
	levels := map[string]string{"easy": "beginner", "medium": "intermediate", "hard": "advanced"}
	f.tags = append(f.tags, levels[path.Base(path.Dir(dir))])
	f.files["problem.py"] = []byte(text)
	f.runFiles = []string{"core/challenge_base.py"}
	f.templates = map[string]string{}
	for label, name := range map[string]string{"PyTorch": "starter.pytorch.py", "Triton": "starter.triton.py"} {
		for _, at := range []string{"starter", "."} { // a browser sends files without their folders
			if starter, err := r.tree.Read(path.Join(dir, at, name)); err == nil {
				f.files[name], f.templates[label] = starter, name
			}
		}
	}
	if len(r.tree.List(path.Join(dir, "starter"))) > len(f.templates) {
		f.addNote("Only the starters for PyTorch and Triton are carried over: the task is in Python.")
	}
	f.describeChallenge(r, dir)
	oneTest := func(test, seed string) {
		f.tests = append(f.tests, pyyaml.Flow("test", pyyaml.Quoted(test), "seed", pyyaml.PlainScalar(seed)))
	}
	oneTest("example", "1001")
	oneTest("functional", "2002")
	oneTest("functional", "3003")
	f.benchmarks = append(f.benchmarks, pyyaml.Flow("test", pyyaml.Quoted("performance"), "seed", pyyaml.PlainScalar("4004")))
	if err := f.addProgram("core/challenge_base.py", "challenge_base.py"); err != nil {
		return err
	}
	return f.addProgram("task.py", "leetgpu.py")
}

// reduceChallenge reduces the sizes of the performance test of a challenge.
func (r *reader) reduceChallenge(f *folder, text string) string {
	if r.options.MaxSize < 1 {
		return text
	}
	at := performance.FindStringIndex(text)
	if at == nil {
		return text
	}
	smaller, changes := halveSizes(text[at[0]:at[1]], r.options.MaxSize)
	if len(changes) == 0 {
		f.addNote("The performance test keeps its sizes: none is a plain number in an assignment.")
		return text
	}
	f.addNote("Smaller than in the challenge: %s.", strings.Join(changes, ", "))
	return text[:at[0]] + smaller + text[at[1]:]
}

func (f *folder) describeChallenge(r *reader, dir string) {
	f.description = "Write a function `solve` that computes what the reference computes."
	if page, err := r.tree.Read(path.Join(dir, "challenge.html")); err == nil && len(page) <= maxStatementBytes {
		text, drawings := markdown(page)
		if f.description = text; drawings > 0 {
			f.addNote("The statement's drawing is not carried over.")
		}
	} else {
		f.addNote("There is no challenge.html of at most %s, so the task has no statement.",
			parse.SizeText(maxStatementBytes))
	}
	f.description += "\n\nWrite `solve` in Python, with PyTorch or Triton, as the templates have it. Instead, you can " +
		"define `custom_kernel(data)`, which gets a list of dicts with the arguments of each call, and returns a list of " +
		"the lists of written arguments.\n"
}
