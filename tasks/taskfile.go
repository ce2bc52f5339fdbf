package tasks

import (
	"path"
	"slices"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"

	"warpboard/internal/requirement"
	"warpboard/tasks/filetree"
	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

// TaskFile is the name of the file that every task folder has.
const TaskFile = "task.yml"

const (
	defaultTimeout = 180 * time.Second
	maxTimeout     = 2 * time.Hour
	maxTitle       = 120
	minMemoryMiB   = 64      // MiB; enough for a program with its libraries
	maxMemoryMiB   = 1 << 20 // maximum memory limit, in MiB
)

// taskReader reads one task.yml and loads the files named in it.
type taskReader struct {
	yamlReader
	tree        filetree.FileTree
	dir         string // folder of task.yml in the tree
	bundle      *Bundle
	storedBytes int64 // bytes of bundle.Files
	// pathInTree maps each path in bundle.Files to its path in the tree.
	pathInTree         map[string]string
	ignoredKeyWarnings []string // warnings about known but unused keys
	// keepsExactTexts is true if Python programs receive the values of cases with the types that they have in task.yml.
	keepsExactTexts bool
}

// readTask reads the task in a folder of t.
func readTask(t filetree.FileTree, dir string, name string) (*Bundle, error) {
	file := path.Join(dir, TaskFile)
	data, err := t.Read(file)
	if err != nil {
		return nil, err
	}
	root, err := parseYAML(file, data)
	if err != nil {
		return nil, parse.Problems(parse.ProblemsFromError(err))
	}
	r := &taskReader{
		yamlReader: yamlReader{file: file}, tree: t, dir: dir,
		bundle: &Bundle{Name: name, Files: map[string][]byte{}}, pathInTree: map[string]string{},
	}
	r.read(root)
	if err := r.problems.AsError(); err != nil {
		return nil, err
	}
	r.bundle.Warnings = append(r.ignoredKeyWarnings, lintBundle(r.bundle, r.unusedFiles())...)
	if text := r.authorText(data); text != nil {
		r.bundle.Files[TaskFile] = text
	}
	return r.bundle, nil
}

func (r *taskReader) read(root *yaml.Node) {
	f := r.readMapping(root, "", knownKeys("", "")...)
	if root.Kind != yaml.MappingNode {
		return
	}
	r.checkRequired(f)
	def := &r.bundle.Definition
	def.Protocol = ProtocolEval
	def.Lang = Lang(r.readChoice(f["lang"], "lang", "", "py", "cu", "cpp"))
	def.Title = r.readTitle(f["title"])
	def.Description = r.readScalar(f["description"], "description")
	def.Tags = r.readTags(f["tags"])
	def.ProblemGroup = r.readProblemGroup(f["problem"])
	def.Files = r.readFiles(f["files"])
	def.Config = r.readConfig(f["config"], def.Lang)
	def.Templates = r.readTemplates(f["templates"])
	def.Baselines = r.readBaselines(f["baselines"])
	def.Validation = r.readValidation(f["validation"])
	r.addSolutions()
	r.keepsExactTexts = def.Lang == LangPython && (def.Config.MainFile == "" && !def.hasFile(evalProgramName+".py") || r.readScalar(f["harness"], "harness") == warpboardHarnessValue)
	def.Tests = r.readCases(f["tests"], "tests")
	def.Benchmarks = r.readCases(f["benchmarks"], "benchmarks")
	r.readTimeouts(f, def)
	def.RankingBy = Ranking(r.readChoice(f["ranking_by"], "ranking_by", "last", "last", "mean", "geom"))
	if seed, ok := r.readInteger(f["seed"], "seed"); ok {
		def.Seed = &seed
	}
	def.MultiGPU = r.readBoolean(f["multi_gpu"], "multi_gpu", false)
	def.Libraries = r.readMatchingTexts(f["libraries"], "libraries", libraryNamePattern.MatchString, "is not a library's name, as in -lNAME")
	def.GPUs = r.readDevices(f["gpus"], "gpus")
	r.checkDevices(f)
	def.RequiredPackages = r.readRequirements(f["require"], "require")
	def.DisableProfile = !r.readBoolean(f["profile"], "profile", true)
	r.readSanitize(f["sanitize"])
	r.readHarness(f["config"])
	r.checkWorldSizes(f)
	r.readLibrary(f["library"])
	def.Roofline = r.readRoofline(f["roofline"])
	r.useRequestedHarness(f["harness"])
	r.checkRanges(f)
	def.Tolerance = r.readTolerances(f)
	if def.AllowSetup = r.readBoolean(f["setup"], "setup", false); def.AllowSetup && (def.Lang != LangPython || def.HasOwnHarness || def.MultiGPU) {
		r.addProblem(f["setup"], "setup", "is for Python tasks with Warpboard's harness, on one GPU")
	}
	// The allowed files of a submission depend on the choice of the harness.
	r.bundle.Definition.SubmissionFiles = r.readSubmissionFiles(f["submission_files"])
}

// readSanitize reads the key sanitize: whether a ranked run requires a clean run of compute-sanitizer.
func (r *taskReader) readSanitize(node *yaml.Node) {
	def := &r.bundle.Definition
	def.RequiresCleanSanitizerRun = r.readChoice(node, "sanitize", "optional", "optional", "required") == "required"
	switch {
	case !def.RequiresCleanSanitizerRun:
	case def.Lang == LangCPP:
		r.addProblem(node, "sanitize", "compute-sanitizer checks kernels on a GPU, and a task with lang cpp runs on a CPU")
	case def.MultiGPU:
		r.addProblem(node, "sanitize", "a task on several GPUs cannot be checked with compute-sanitizer")
	case len(def.Tests) == 0:
		r.addProblem(node, "sanitize", "compute-sanitizer checks the tests, and there are none")
	}
}

// readLibrary reads the key library: whether kernels of libraries are refused. Only profiles show the kernels that ran.
func (r *taskReader) readLibrary(node *yaml.Node) {
	def := &r.bundle.Definition
	def.RefuseLibraryKernels = r.readChoice(node, "library", "allow", "allow", "refuse") == "refuse"
	switch {
	case !def.RefuseLibraryKernels:
	case def.Lang == LangCPP:
		r.addProblem(node, "library", "which kernels ran is known from the profile, and a run on a CPU has none")
	case def.DisableProfile:
		r.addProblem(node, "library", "which kernels ran is known from the profile, and this task has none")
	}
}

// readTimeouts reads the time limits of stages.
func (r *taskReader) readTimeouts(f yamlFields, def *Definition) {
	def.Timeouts = Timeouts{
		Test:      r.readTimeout(f["test_timeout"], "test_timeout"),
		Benchmark: r.readTimeout(f["benchmark_timeout"], "benchmark_timeout"),
		Ranked:    r.readTimeout(f["ranked_timeout"], "ranked_timeout"),
	}
	def.MemoryLimit = r.readMemory(f["memory_limit"], "memory_limit")
	if f["ranked_budget"] != nil {
		def.RankedBudget = r.readTimeout(f["ranked_budget"], "ranked_budget")
	}
}

// checkRequired reports each required key that a task.yml lacks.
func (r *taskReader) checkRequired(f map[string]*yaml.Node) {
	for _, key := range generalTaskKeys() {
		if key.IsRequired && !strings.Contains(key.Name, ".") && f[key.Name] == nil {
			r.addProblem(nil, key.Name, "is required")
		}
	}
}

func (r *yamlReader) readChoice(node *yaml.Node, key, otherwise string, allowed ...string) string {
	if node == nil {
		return otherwise
	}
	text := r.readScalar(node, key)
	if !slices.Contains(allowed, text) && node.Kind == yaml.ScalarNode {
		r.addProblem(node, key, "%q is not allowed; it is one of %s", text, strings.Join(allowed, ", "))
	}
	return text
}

func (r *yamlReader) readMatchingTexts(node *yaml.Node, key string, allowed func(string) bool, message string) []string {
	texts := r.readTexts(node, key)
	for i, text := range texts {
		switch item := node.Content[i]; {
		case item.Kind != yaml.ScalarNode || text == "":
		case !allowed(text):
			r.addProblem(item, indexedKey(key, i), "%q %s", text, message)
		case slices.Contains(texts[:i], text):
			r.addProblem(item, indexedKey(key, i), "%q appears twice", text)
		}
	}
	return texts
}

func (r *yamlReader) readDevices(node *yaml.Node, key string) []string {
	return r.readMatchingTexts(node, key, deviceNamePattern.MatchString, "is not a device's name")
}

// readRequirements reads the Python packages that a worker must have.
func (r *yamlReader) readRequirements(node *yaml.Node, key string) requirement.List {
	texts := r.readTexts(node, key)
	list, at, err := requirement.ParseList(texts)
	switch {
	case err == nil:
		return list
	case at < 0:
		r.addProblem(node, key, "%v", err)
	case node.Content[at].Kind == yaml.ScalarNode && texts[at] != "":
		r.addProblem(node.Content[at], indexedKey(key, at), "%v", err)
	}
	return nil
}

func (r *yamlReader) readTitle(node *yaml.Node) string {
	title := strings.TrimSpace(r.readScalar(node, "title"))
	if len(title) > maxTitle || strings.ContainsFunc(title, unicode.IsControl) {
		r.addProblem(node, "title", "must be one line of at most %d bytes, without control characters", maxTitle)
	}
	return title
}

func (r *yamlReader) readTimeout(node *yaml.Node, key string) time.Duration {
	seconds, ok := r.readInteger(node, key)
	if !ok {
		return defaultTimeout
	}
	if seconds < 1 || seconds > int64(maxTimeout/time.Second) {
		r.addProblem(node, key, "must be between 1 and %d seconds", int64(maxTimeout/time.Second))
		return defaultTimeout
	}
	return time.Duration(seconds) * time.Second
}

// readMemory reads a number of MiB and returns bytes; 0 if the key is absent.
func (r *yamlReader) readMemory(node *yaml.Node, key string) int64 {
	n, ok := r.readInteger(node, key)
	if ok && (n < minMemoryMiB || n > maxMemoryMiB) {
		r.addProblem(node, key, "must be between %d and %d MiB", minMemoryMiB, maxMemoryMiB)
		return 0
	}
	return n << 20
}

// readCases reads a list of mappings without nesting; each case keeps its arguments in file order.
func (r *taskReader) readCases(node *yaml.Node, key string) []Case {
	items := r.readItems(node, key)
	if len(items) > MaxCases {
		r.addProblem(node, key, "has %d cases; at most %d are allowed", len(items), MaxCases)
		return nil
	}
	var out []Case
	for i, item := range items {
		out = append(out, r.readCase(item, indexedKey(key, i)))
	}
	return out
}

func (r *taskReader) readCase(node *yaml.Node, key string) Case {
	var out Case
	for name, value := range r.mappingPairs(node, key) {
		at := joinKey(key, name.Value)
		if !identifierPattern.MatchString(name.Value) {
			r.addProblem(name, at, "an argument's name is made of letters, digits and _, and does not start with a digit")
			continue
		}
		text, ok := pyyaml.PythonText(value)
		if exact, ok := pyyaml.PythonLiteral(value); ok && r.keepsExactTexts && !isRange(text) {
			text = exact
		}
		switch {
		case name.Value == DevicesKey:
			out = append(out, r.readCaseDevices(value, at))
		case !ok:
			r.addProblem(value, at, "must be one value or a list of values")
		case strings.Contains(text, ";") || strings.ContainsFunc(text, unicode.IsControl):
			r.addProblem(value, at, "must not hold ; or control characters: the case is written as one line of \"name: value; name: value\"")
		case value.Kind == yaml.ScalarNode && isRange(text):
			r.checkRange(value, at, name.Value, text)
			out = append(out, Arg{Name: name.Value, Value: text})
		case slices.ContainsFunc(value.Content, func(item *yaml.Node) bool { return isRange(item.Value) }):
			r.addProblem(value, at, "a range stands alone, not in a list")
		default:
			out = append(out, Arg{Name: name.Value, Value: text})
		}
	}
	if len(out.Arguments()) == 0 && len(node.Content) <= 2*len(out) && node.Kind == yaml.MappingNode {
		r.addProblem(node, key, "has no arguments")
	}
	return out
}
