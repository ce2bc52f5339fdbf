package tasks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"warpboard/internal/requirement"
	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

// TaskFileKey is one key of task.yml. The reader accepts exactly these keys, and the page about the task format lists
// the same ones.
type TaskFileKey struct {
	Name          string // dotted: "config.main"; in list entries: "files[].name"
	Languages     []Lang // languages with the key; nil for all
	IsRequired    bool
	MeaningText   string   // Markdown
	Default       string   // as YAML; empty if there is none
	LimitsText    string   // Markdown
	AllowedValues []string // allowed values, if there are few
	Example       string   // lines of task.yml that can replace the same keys of a built-in task
}

// TopLevelText returns the text of a top-level key of a YAML file, or "" if there is none or the file cannot be read.
func TopLevelText(file []byte, key string) string {
	if len(file) > MaxYAML {
		return ""
	}
	root, err := pyyaml.Parse(file)
	if err != nil || root.Kind != yaml.MappingNode {
		return ""
	}
	for i := 0; i+1 < len(root.Content); i += 2 {
		if value := root.Content[i+1]; root.Content[i].Value == key && value.Kind == yaml.ScalarNode && !pyyaml.IsNull(value) {
			return value.Value
		}
	}
	return ""
}

// TaskFileKeys returns every key of task.yml, in the order of the documentation.
func TaskFileKeys() []TaskFileKey {
	return append(generalTaskKeys(), configKeys()...)
}

func generalTaskKeys() []TaskFileKey {
	return slices.Concat(contentTaskKeys(), measuringTaskKeys(), programKeys())
}

// contentTaskKeys returns the keys for the content of a task.
func contentTaskKeys() []TaskFileKey {
	return []TaskFileKey{
		{Name: "title", MeaningText: "The task's name on the site.", Default: `""`,
			LimitsText: fmt.Sprintf("One line of at most %d bytes. Without it, the folder's name is used.", maxTitle), Example: `title: Vector add`},
		{Name: "lang", IsRequired: true, MeaningText: "`cpp`: C++ on a CPU; `cu`: CUDA C++; `py`: Python with torch, Triton or NumPy.",
			LimitsText: "One of the three.", AllowedValues: []string{"cpp", "cu", "py"}, Example: `lang: cpp`},
		{Name: "description", IsRequired: true, MeaningText: "What to compute, in Markdown with formulas in LaTeX (`$x_i$`), for the people who will write kernels.",
			LimitsText: fmt.Sprintf("At most %s for the whole task.yml. A description of more than 32 KiB, or with tables of more than 10,000 cells, is shown as plain text.", parse.SizeText(MaxYAML)),
			Example:    "description: |\n  Add two vectors: `out[i] = a[i] + b[i]`."},
		{Name: "tags", MeaningText: "Words by which people find the task. `beginner`, `intermediate`, and `advanced` give its difficulty, by which lists can be sorted. A task without one of them is in the middle.", Default: "[]",
			LimitsText: fmt.Sprintf("At most %d tags; each has at most %d lower-case letters and digits, with hyphens between them, and begins with a letter.", maxTags, maxTagLetters), Example: `tags: [reduction, beginner]`},
		{Name: "problem", MeaningText: "A name for related tasks of one author, such as the same sum in C++, CUDA C++, and Python. The list of tasks shows tasks with the same author, problem, and deadline on one line. Their scores stay separate. Without it, the task has its own line.", Default: `""`,
			LimitsText: fmt.Sprintf("At most %d lower-case letters and digits, with hyphens between them; begins with a letter. Titles that differ only in a part in parentheses, such as `Vector add (C++)`, share a heading.", maxTagLetters), Example: `problem: vectoradd`},
		{Name: "gpus", MeaningText: "Devices that the task is for. The publisher can choose others.", Default: "[]",
			LimitsText: "Names as on the queue page, each once. A model without form factor and memory, such as `H100`, means all devices of that family.", Example: `gpus: [H200, H100]`},
		{Name: "require", MeaningText: "Python packages that a worker must have. Runs wait for such a worker, and their pages show what is missing. The page of a device's software lists the packages of its workers.", Default: "[]",
			LimitsText: fmt.Sprintf("At most %d, each a name and versions with `==`, `!=`, `>=`, `<=`, `>`, `<`, `~=`, separated by commas, as in `nvidia-cutlass-dsl>=4,<5`.", requirement.MaxRequirements),
			Example:    `require: ["triton>=3.2"]`},
		{Name: "files", IsRequired: true, MeaningText: "Files available at run time. One of them is the submission.",
			LimitsText: fmt.Sprintf("At most %s for all files of a task; UTF-8 text.", parse.SizeText(MaxBundle)),
			Example:    "files:\n  - {name: task.h, source: task.h}\n  - {name: reference.h, source: reference.h}\n  - {name: submission.cpp, source: \"@SUBMISSION@\"}"},
		{Name: "files[].name", IsRequired: true, MeaningText: "The file's name at run time, relative to the working folder.",
			LimitsText: "No two names that differ only in case; no `..`."},
		{Name: "files[].source", IsRequired: true, MeaningText: "The file's path, relative to task.yml, or `\"" + SubmissionSource + "\"` for the submitted code.",
			LimitsText: "Inside the upload."},
		{Name: "templates", MeaningText: "Files to start from, by label, such as the language or the library that they use.", Default: "{}",
			LimitsText: "A label has at most 40 letters, digits, spaces, and `. _ + -`.", Example: "templates:\n  C++: template.cpp"},
		{Name: "submission_files", Default: "[]", Example: `submission_files: [kernels.h, "*.hpp"]`,
			MeaningText: "Further files that a submission may have beside its main file. Give names, or patterns in which `*` stands for any characters. " +
				"They are placed beside the task's files, for `#include \"kernels.h\"` or `import helpers`. In C++ and CUDA C++, files that end in `.cu`, `.cpp`, `.cc`, or `.cxx` are compiled, too. Without it, a submission is one file.",
			LimitsText: fmt.Sprintf("At most %d names. They end in %s (C++), %s (CUDA C++), or %s (Python). A submission has at most %d further files, and at most %d bytes with its main file. "+
				"A file's name has at most %d letters, digits, and `_ - .`. It cannot be the name of a file of the task or of Warpboard's harness, or of anything that the task's files include or import. "+
				"Not for Python tasks with their own eval program.",
				maxFilePatterns, sourceSuffixesText(LangCPP), sourceSuffixesText(LangCUDA), sourceSuffixesText(LangPython), MaxSubmissionFiles, MaxSubmission, maxFileName)},
		{Name: "baselines", MeaningText: "Submissions to compare with, by name: a plain loop, a library, `torch.compile`. The site runs each baseline on each device of the task while the device is idle. Boards show them without a rank.", Default: "{}",
			LimitsText: fmt.Sprintf("At most %d; a name has at most 40 letters, digits, spaces, and `. _ + -`.", maxBaselines), Example: "baselines:\n  naive: template.cpp"},
	}
}

func sourceSuffixesText(lang Lang) string {
	return "`" + strings.Join(additionalFileSuffixes[lang], " ") + "`"
}

// measuringTaskKeys returns the keys for cases, time limits, and scores.
func measuringTaskKeys() []TaskFileKey {
	timeout := fmt.Sprintf("1 to %d seconds; the build has a separate limit.", int(maxTimeout/time.Second))
	seconds := fmt.Sprint(int(defaultTimeout / time.Second))
	caseDevices := fmt.Sprintf("A name, or a list of up to %d names, as in gpus: a model without form factor and memory means all devices of that family.", maxCaseDevices)
	return []TaskFileKey{
		{Name: "tests", MeaningText: "Cases that check the answer. Each gives the arguments of `generate_input` by name. To let the site draw a value, write `uniform 1000..5000`, `uniform 1000..5000 step 8`, or `choice 64|128|256`. For ranked runs, the drawn values are secret. " +
			"In Python tasks, a text in quotes stays a text, as in `mode: \"1e3\"`; a whole number in quotes is a number, as on KernelBot.", Default: "[]",
			LimitsText: fmt.Sprintf("At most %d cases. Values are numbers, text, booleans, or lists of them, on one line and without `;`. A range has whole numbers, and two values or more. `world_size` cannot be a range, and tasks with their own eval program cannot have ranges.", MaxCases),
			Example:    "tests:\n  - {size: 127, seed: 5236}\n  - {size: uniform 60000..70000, seed: 9173}"},
		{Name: "benchmarks", MeaningText: "Cases that are timed. Their answers are checked, too. Each timed call has a new `seed`.", Default: "[]",
			LimitsText: "As for tests. Without benchmarks, there are no ranked runs.", Example: "benchmarks:\n  - {size: 65536, seed: 54352}\n  - {size: 1048576, seed: 6256}"},
		{Name: "tests[].devices", MeaningText: "The devices that run the case. It is not an argument of `generate_input`. Without it, all devices run the case.", LimitsText: caseDevices, Example: "tests:\n  - {size: 127, seed: 5236}\n  - {size: 65537, seed: 9173, devices: [CPU, H100]}"},
		{Name: "benchmarks[].devices", MeaningText: "The same for a benchmark, so that a device with less memory can run fewer cases. Each device has its own board anyway.",
			LimitsText: caseDevices + " Each device of the task needs a benchmark.", Example: "benchmarks:\n  - {size: 65536, seed: 54352}\n  - {size: 16777216, seed: 6256, devices: [CPU, H100]}"},
		{Name: "tolerance", Languages: []Lang{LangPython}, Example: "tolerance: {atol: 1e-3, rtol: 1e-3, matched: 0.99, max_error: 0.1, equal_nan: false, infinite: equal}",
			MeaningText: "How far an answer may be from that of `ref_kernel(data)` in the reference, which then needs no `check_implementation`. If it has one, that alone decides. " +
				"Types and shapes must be equal, and integers and booleans too. An infinity agrees with itself at the same place, and NaN with nothing.",
			LimitsText: "Only Python tasks with Warpboard's harness, on one GPU."},
		{Name: "tolerance.atol", Languages: []Lang{LangPython}, MeaningText: "Absolute difference: an element is within `atol + rtol * |reference|`. From 1 on, it holds for integers, too.", Default: "0.01", LimitsText: "0 to 1,000,000."},
		{Name: "tolerance.rtol", Languages: []Lang{LangPython}, MeaningText: "Relative difference. If neither is given, types of 8 bits and fewer have one step of the type, such as 1/8 for `float8_e4m3fn`. From 0.5 on, it is a share of the smaller of both numbers.", Default: "0.01", LimitsText: "0 to 1,000,000."},
		{Name: "tolerance.matched", Languages: []Lang{LangPython}, MeaningText: "The share of an output's elements that must be within both.", Default: "1", LimitsText: "At least 0.01, and 1 at most. No share excuses NaN."},
		{Name: "tolerance.max_error", Languages: []Lang{LangPython}, MeaningText: "The difference that no element may exceed, whatever share must match.", LimitsText: "Not negative."},
		{Name: "tolerance.equal_nan", Languages: []Lang{LangPython}, MeaningText: "Whether NaN agrees with NaN at the same place.", Default: "false", LimitsText: "`true` or `false`.", AllowedValues: []string{"true", "false"}},
		{Name: "tolerance.infinite", Languages: []Lang{LangPython}, MeaningText: "Which infinities agree with themselves at the same place: all (`equal`), -inf (`negative`), or none (`never`).",
			Default: "equal", LimitsText: "One of the three.", AllowedValues: InfiniteRuleNames()},
		{Name: "tolerances", Languages: []Lang{LangPython}, Example: "tolerances:\n  \"0\": {atol: 1e-3, rtol: 0}",
			MeaningText: "The tolerances of single outputs, by their keys in a dict or their numbers in a tuple. Words that one leaves out are those of `tolerance`.",
			LimitsText:  fmt.Sprintf("At most %d outputs. A name that the reference's answer lacks ends each run.", MaxTolerances)},
		{Name: "setup", Languages: []Lang{LangPython}, Default: "false", AllowedValues: []string{"true", "false"}, Example: "setup: true",
			MeaningText: "Whether a submission may have a function `setup(meta)`. It is called before each case, and its result comes to each call as `custom_kernel(data, state=…)`. " +
				"It is not timed; the run's page shows its time. `meta` is the input with `shape` and `dtype` in place of each array or tensor, and `value` in place of each number or text.",
			LimitsText: "Only Python tasks with Warpboard's harness, on one GPU. It may take 60 s."},
		{Name: "ranking_by", MeaningText: "How the score is computed from the benchmarks' times: their geometric mean (`geom`), their mean (`mean`), or the time of the last benchmark (`last`).",
			Default: "last", LimitsText: "One of the three.", AllowedValues: []string{"last", "mean", "geom"}, Example: `ranking_by: geom`},
		{Name: "test_timeout", MeaningText: "Seconds for all tests together.", Default: seconds, LimitsText: timeout, Example: `test_timeout: 60`},
		{Name: "benchmark_timeout", MeaningText: "Seconds for all benchmarks together.", Default: seconds, LimitsText: timeout, Example: `benchmark_timeout: 120`},
		{Name: "ranked_timeout", MeaningText: "Seconds for the benchmarks of a ranked run together.", Default: seconds, LimitsText: timeout, Example: `ranked_timeout: 120`},
		{Name: "ranked_budget", LimitsText: timeout, Example: `ranked_budget: 20`,
			MeaningText: fmt.Sprintf("Seconds during which a ranked run starts more fresh processes than the minimum, to narrow the score's interval. Without it, %d.", int(DefaultRankedBudget/time.Second))},
		{Name: "memory_limit", LimitsText: fmt.Sprintf("%d to %d. The worker's own limit also applies.", minMemoryMiB, maxMemoryMiB), Example: `memory_limit: 1024`,
			MeaningText: "MiB of host memory that all processes of a submission may use together, including libraries. GPU memory does not count. Without it, only the worker's limit applies. With it, Python starts more slowly."},
		{Name: "roofline", MeaningText: "The work that one call must do (bytes and operations), for the roofline of its profile and the share of the device's peak.",
			LimitsText: "Each formula must work for every benchmark.", Example: "roofline:\n  bytes: 3 * size * float32\n  flops: size"},
		{Name: "roofline.bytes", MeaningText: "Bytes to and from memory, as arithmetic (`+ - * / **`) on the case's arguments and the sizes of types such as `float16`.",
			LimitsText: "Not negative."},
		{Name: "roofline.flops", MeaningText: "Floating-point operations, written the same way.",
			LimitsText: "Not negative."},
	}
}

// programKeys returns the keys for building and starting the program.
func programKeys() []TaskFileKey {
	return []TaskFileKey{
		{Name: "libraries", MeaningText: "Libraries to link, as `-lNAME`.", Default: "[]", LimitsText: "Libraries that are on the worker's machine.", Example: `libraries: [cublas]`},
		{Name: "profile", MeaningText: "Whether runs on a GPU get an Nsight Compute profile.", Default: "true", LimitsText: "`true` or `false`.", AllowedValues: []string{"true", "false"}, Example: `profile: false`},
		{Name: "sanitize", Languages: []Lang{LangPython, LangCUDA}, Default: "optional", Example: `sanitize: required`,
			MeaningText: "`required`: a source can be ranked on a GPU only after a run of mode `sanitize` on the same device in which compute-sanitizer found no errors. " +
				"This protects against mistakes, not against cheating: a submission can forge the findings.",
			LimitsText: "`optional` or `required`. `required` needs tests and a single GPU, and workers with compute-sanitizer.", AllowedValues: []string{"optional", "required"}},
		{Name: "library", Languages: []Lang{LangPython, LangCUDA}, Default: "allow", Example: `library: refuse`,
			MeaningText: "`refuse`: kernels must come from the source, not from a library such as cuBLAS. If the profile of a ranked run lists a library's kernel, " +
				"the run gets a tag and reviewers get a hint. The score stands: the list is evidence from one untimed call, which a submission can detect.",
			LimitsText: "`allow` or `refuse`. `refuse` needs profiles, and so a GPU.", AllowedValues: []string{"allow",
				"refuse"}},
		{Name: "validation", Languages: []Lang{LangPython}, Example: "validation: {version: v1, script: reference.py}",
			MeaningText: "A script that tries a submission in an application. After the deadline, the author of the task or an admin can run it on the top ten entries of each board. " +
				"The board then shows for each entry whether it applies. It changes no rank. The documentation has a page on how to write validation scripts.",
			LimitsText: "Only Python tasks. In other languages, the key is not used."},
		{Name: "validation.version", Languages: []Lang{LangPython}, IsRequired: true, MeaningText: "The version of the script, a name of your choice. The board shows it beside the answer.",
			LimitsText: fmt.Sprintf("One line of %d bytes.", maxValidationVersionBytes)},
		{Name: "validation.script", Languages: []Lang{LangPython}, IsRequired: true, MeaningText: "The script's path, relative to task.yml.",
			LimitsText: "A Python file inside the upload, with a name that no other entry of files has. Everyone who can see the task can read it."},
		{Name: "multi_gpu", Languages: []Lang{LangPython, LangCUDA}, MeaningText: "Whether a call runs on several GPUs of one machine. Each case then has their number as `world_size`. " +
			"Warpboard's harness runs one process, called a rank, on each GPU. `generate_input` is called for every rank, with the rank's number as `rank` beside the case's arguments. " +
			"`custom_kernel` runs in all ranks at the same time, with torch's default process group, and with `RANK`, `WORLD_SIZE`, `MASTER_ADDR`, and `MASTER_PORT` set. " +
			"`check_implementation(inputs, outputs)` gets lists with one item per rank. The clock runs until the last rank is done.",
			Default: "false", AllowedValues: []string{"true", "false"}, LimitsText: fmt.Sprintf("A device needs that many slots on one machine. With Warpboard's harness: Python, the same `world_size` in all cases, at most %d, and no profiles.", maxRankProcesses),
			Example: "multi_gpu: true\ntests:\n  - {size: 1024, seed: 1, world_size: 2}\nbenchmarks:\n  - {size: 65536, seed: 2, world_size: 2}"},
		{Name: "harness", MeaningText: "Which program measures, if the task has an eval program among its files. With `own`, that program measures, in the kernel's process. " +
			"With `warpboard`, Warpboard's harness measures, in a separate process, and the task's program is not used. Without the key, the task's program measures.",
			Default:       "warpboard",
			AllowedValues: []string{ownHarnessValue, warpboardHarnessValue},
			LimitsText:    "`own` or `warpboard`. Warpboard's harness calls `generate_input` and `check_implementation` of the reference.", Example: `harness: warpboard`},
		{Name: "seed", MeaningText: "The seed for the public stages of a task's own eval program. Warpboard's harness draws its own seeds.",
			LimitsText: "A whole number.", Example: `seed: 42`},
		{Name: "config", MeaningText: "How the program is built or started. Most tasks do not need it.", Default: "{}", LimitsText: "Keys depend on the language."},
	}
}

func configKeys() []TaskFileKey {
	python, native := []Lang{LangPython}, []Lang{LangCUDA, LangCPP}
	return []TaskFileKey{
		{Name: "config.main", Languages: python, MeaningText: "The task's own eval program among the files. It measures instead of Warpboard's harness, in the kernel's process.",
			Default: `""`, LimitsText: "The name of an entry of files.", Example: "config: {main: task.py}"},
		{Name: "config.sources", Languages: native, MeaningText: "The files to compile; the other files are placed beside them. Without it, only the submission is compiled.",
			LimitsText: "Names of entries of files.", Example: "config: {sources: [submission.cpp]}"},
		{Name: "config.include_dirs", Languages: native, MeaningText: "Folders for `#include`: folders of the files, or names of libraries on the worker.", Default: "[]",
			LimitsText: "None that begins with `-`.", Example: "config: {include_dirs: [include]}"},
		{Name: "config.defines", Languages: native, MeaningText: "Definitions for the preprocessor; `null` for a plain `-DNAME`.", Default: "{}",
			LimitsText: "Names are identifiers; each value is one line.", Example: "config: {defines: {TILE: 16, FAST: null}}"},
		{Name: "config.compile_flags", Languages: native, MeaningText: "Further flags for the compiler.", Default: "[]",
			LimitsText: "C++: " + parse.AllowedHostFlags + ". CUDA C++: " + parse.AllowedNVCCFlags + ".", Example: "config: {compile_flags: [-O3, -std=c++20]}"},
	}
}

// AppliesToLanguage reports whether tasks in a language may have the key.
func (k TaskFileKey) AppliesToLanguage(lang Lang) bool {
	for _, l := range k.Languages {
		if l == lang {
			return true
		}
	}
	return k.Languages == nil
}

// knownKeys returns the keys below a parent, "" for the top level, that a task.yml in a language may have. lang is ""
// for the keys of all languages: an invalid lang must not cause additional problems.
func knownKeys(parent string, lang Lang) []string {
	var names []string
	for _, key := range TaskFileKeys() {
		at, name := "", key.Name
		if i := strings.LastIndex(name, "."); i >= 0 {
			at, name = name[:i], name[i+1:]
		}
		if at == parent && (lang == "" || key.AppliesToLanguage(lang)) {
			names = append(names, name)
		}
	}
	return names
}
