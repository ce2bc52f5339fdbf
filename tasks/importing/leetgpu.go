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
	maxStatementBytes = 128 << 10 // maximum size of challenge.html
)

var (
	challengeClassPattern  = regexp.MustCompile(`(?m)^class Challenge\b`)
	challengeNamePattern   = regexp.MustCompile(`(?m)^\s+name = ["'](.+)["']`)
	multiGPUPattern        = regexp.MustCompile(`(?m)^\s+num_gpus = ([2-9]|\d\d+)`)
	performanceTestPattern = regexp.MustCompile(`(?s)def generate_performance_test\b.*?(\n    def |\nclass |$)`)
	challengeMethods       = []string{"reference_impl", "get_solve_signature", "generate_example_test",
		"generate_functional_test",
		"generate_performance_test"}
)

// leetGPU returns a task for each folder with a challenge of LeetGPU.
func (r *problemReader) leetGPU() (list []Task) {
	for name, text := range r.textsByPath {
		if dir := path.Dir(name); path.Base(name) == challengeFile {
			list = append(list, r.makeTask(dir, func(f *taskFolder) error {
				return r.readChallenge(f, dir,
					string(text))
			}))
		}
	}
	for name, err := range r.readErrors {
		if path.Base(name) == challengeFile {
			list = append(list, r.makeTask(name, func(*taskFolder) error { return err }))
		}
	}
	return list
}

// readChallenge writes the files of one challenge to its task folder.
func (r *problemReader) readChallenge(f *taskFolder, dir, text string) error {
	if !challengeClassPattern.MatchString(text) {
		return fmt.Errorf("%s has no class Challenge at its top level", challengeFile)
	}
	for _, method := range challengeMethods {
		if !strings.Contains(text, "def "+method+"(") {
			return fmt.Errorf("%s has no method %s", challengeFile, method)
		}
	}
	if multiGPUPattern.MatchString(text) {
		return errors.New("needs several GPUs, and an imported task runs on one")
	}
	if found := challengeNamePattern.FindStringSubmatch(text); found != nil {
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
		for _, at := range []string{"starter", "."} { // an upload by a browser may lack the folder
			if starter, err := r.tree.Read(path.Join(dir, at, name)); err == nil {
				f.files[name], f.templates[label] = starter, name
			}
		}
	}
	if len(r.tree.List(path.Join(dir, "starter"))) > len(f.templates) {
		f.addNote("Only the starters for PyTorch and Triton are carried over: the task is in Python.")
	}
	f.writeChallengeText(r, dir)
	oneTest := func(test, seed string) {
		f.tests = append(f.tests, pyyaml.FlowMapping("test", pyyaml.QuotedNode(test), "seed",
			pyyaml.UnquotedNode(seed)))
	}
	oneTest("example", "1001")
	oneTest("functional", "2002")
	oneTest("functional", "3003")
	f.benchmarks = append(f.benchmarks, pyyaml.FlowMapping("test", pyyaml.QuotedNode("performance"), "seed", pyyaml.UnquotedNode("4004")))
	if err := f.addProgram("core/challenge_base.py", "challenge_base.py"); err != nil {
		return err
	}
	return f.addProgram("task.py", "leetgpu.py")
}

// reduceChallenge reduces the sizes in the performance test of a challenge to at most MaxDimension.
func (r *problemReader) reduceChallenge(f *taskFolder, text string) string {
	if r.importOptions.MaxDimension < 1 {
		return text
	}
	at := performanceTestPattern.FindStringIndex(text)
	if at == nil {
		return text
	}
	smaller, changes := halveSizes(text[at[0]:at[1]], r.importOptions.MaxDimension)
	if len(changes) == 0 {
		f.addNote("The performance test keeps its sizes: none is a plain number in an assignment.")
		return text
	}
	f.addNote("Smaller than in the challenge: %s.", strings.Join(changes, ", "))
	return text[:at[0]] + smaller + text[at[1]:]
}

func (f *taskFolder) writeChallengeText(r *problemReader, dir string) {
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
