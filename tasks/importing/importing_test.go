package importing

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"warpboard/tasks/filetree"
)

const model = `import torch

class Model(torch.nn.Module):
    """
    Adds a bias to each row.
    """
    def __init__(self, width):
        super(Model, self).__init__()
        self.bias = torch.nn.Parameter(torch.randn(width))

    def forward(self, x):
        return x + self.bias

rows, width = 4096, 3 * 1000
shape = (16, 2048)
scale = 1.5

def get_inputs():
    return [torch.rand(rows, width)]

def get_init_inputs():
    return [width]
`

// read imports files, and returns the tasks by name and all errors, one per line.
func read(files map[string]string, options ImportOptions) (byName map[string]Task, errors string) {
	tree := filetree.MemoryTree{}
	for name, text := range files {
		tree[name] = []byte(text)
	}
	byName = map[string]Task{}
	for _, task := range ReadProblems(tree, options) {
		byName[task.Name] = task
		if task.Err != nil {
			errors += task.Err.Error() + "\n"
		}
	}
	return byName, errors
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q is missing in\n%s", part, text)
		}
	}
}

func TestAModelBecomesATask(t *testing.T) {
	got, wrong := read(map[string]string{"level1/7_Add_bias_.py": model}, ImportOptions{})
	task := got["7_Add_bias_"]
	if wrong != "" || len(task.OmissionNotes) > 0 || string(task.Files["problem.py"]) != model {
		t.Fatalf("%s\n%+v", wrong, task)
	}
	wantText(t, string(task.Files["task.yml"]), `title: "Add bias"`, `tags: ["kernelbench", "level1"]`,
		"Adds a bias to each row.", `{name: "solution.py", source: "@SUBMISSION@"}`, "{seed: 1001}",
		`"PyTorch": "solutions/correct/reference.py"`)
	wantText(t, string(task.Files["template.py"]), "class ModelNew(torch.nn.Module)", "super(ModelNew, self)")
}

func TestSizesAreHalvedUntilTheyAreSmall(t *testing.T) {
	got, _ := read(map[string]string{"a.py": model}, ImportOptions{MaxDimension: 100})
	wantText(t, string(got["a"].Files["problem.py"]), "shape = (16, 64)", "scale = 1.5", "rows, width = 64, 3 * 64")
	wantText(t, strings.Join(got["a"].OmissionNotes, "\n"), "Smaller than in the problem: rows, width = 64, 3 * 64 instead of "+
		"4096, 3 * 1000, shape = (16, 64) instead of (16, 2048).")
	for text, want := range map[string]string{
		"N = 2048 * 2\n":          "N = 64\n",
		"a = b = 1_000  # rows\n": "a = b = 64  # rows\n",
		"w = 768, 4000000, 101\n": "w = 96, 64, 64\n",
		"x = 100\n":               "x = 100\n",
		"y = -5000\n":             "y = -5000\n",
		"z = 1000 / 0\n":          "z = 1000 / 0\n",
		"name = f(1000)\n":        "name = f(1000)\n",
		"kept = 3000.5\n":         "kept = 3000.5\n",
	} {
		if got, _ := halveSizes(text, 100); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
}

// TestTheLayersOfAModelKeepTheirSizes checks that MaxDimension does not reduce numbers inside a class, because the
// layers of a model must fit each other.
func TestTheLayersOfAModelKeepTheirSizes(t *testing.T) {
	inner := strings.Replace(model, "        super(", "        channels = 640\n\n        super(", 1)
	got, _ := read(map[string]string{"a.py": inner}, ImportOptions{MaxDimension: 100})
	wantText(t, string(got["a"].Files["problem.py"]), "channels = 640\n", "shape = (16, 64)")
}

func TestABrokenProblemIsOneErrorAmongOthers(t *testing.T) {
	files := map[string]string{"l/good.py": model, "l/__init__.py": ""}
	for i := range 200 {
		files[fmt.Sprintf("l/%d.py", i)] = "class Model:\n    pass\n"
	}
	files["l/empty.py"], files["l/net.py"] = "", model+"\nmodel = AutoModel.from_pretrained(name)\n"
	got, wrong := read(files, ImportOptions{})
	if len(got) != 203 || got["good"].Err != nil || strings.Count(wrong, "\n") != 202 {
		t.Errorf("%d tasks, and the errors are\n%s", len(got), wrong)
	}
	wantText(t, wrong, "l/7.py: has no function get_inputs at its top level\n",
		"l/empty.py: has no class Model at its top level\n",
		"l/net.py: downloads a model when it is loaded, and a run has no network\n")
}

func TestALevelAloneKeepsItsTag(t *testing.T) {
	got, _ := read(map[string]string{"7_Add.py": model}, ImportOptions{Name: "level2"})
	wantText(t, string(got["7_Add"].Files["task.yml"]), `tags: ["kernelbench", "level2"]`)
}

func TestNamesOfTasksDiffer(t *testing.T) {
	got, _ := read(map[string]string{"level1/add.py": model, "level2/add.py": model, "level2/ADD.py": model},
		ImportOptions{})
	if got["level1-add"].Files == nil || got["level2-add"].Files == nil || got["ADD"].Files == nil {
		t.Errorf("the tasks are %v", got)
	}
}

func TestOtherFilesAreNoProblems(t *testing.T) {
	got, _ := read(map[string]string{"a.py": "print(1)\n", "b.json": `{"axes": {}}`, "c.jsonl": "{}\n", "d.json": "[",
		"e/x.html": "<p>"}, ImportOptions{})
	if len(got) > 0 {
		t.Errorf("the tasks are %v", got)
	}
}

const scaled = `{"name": "scaled_sum", "op_type": "sum", "description": "Scales and adds.",
"axes": {"n": {"type": "var"}, "m": {"type": "const", "value": 8}, "k": {"type": "expr", "expression": "n * m"}},
"inputs": {"y": {"shape": ["n", "m"], "dtype": "float16", "description": "first"}, "x": {"shape": ["k"], "dtype": "float32"},
"index": {"shape": ["n"], "dtype": "int32"}, "alpha": {"shape": null, "dtype": "float32"}},
"outputs": {"sum": {"shape": ["n"], "dtype": "float32"}},
"reference": "import torch\n\ndef run(y, x, index, alpha):\n    return y.float().sum(1) * alpha\n"}`

// line returns a workload as a line of JSON, with the size n of axis "n"; more is appended to its inputs.
func line(n int, more string) string {
	return fmt.Sprintf(`{"uuid": "w%d", "axes": {"n": %d}, "inputs": {"y": {"type": "random"}, `+
		`"alpha": {"type": "scalar", "value": 1e-05}%s}}`+"\n", n, n, more)
}

// traced returns a line of a FlashInfer trace with a workload; more may add the results of a solution.
func traced(n int, more string) string {
	return `{"definition": "scaled_sum", "workload": ` + strings.TrimSpace(line(n, "")) + more + "}\n"
}

// solved returns a solution in JSON with one source file.
func solved(name, spec, file string) string {
	return fmt.Sprintf(`{"name": %q, "definition": "scaled_sum", "spec": {%s, "entry_point": "%s::go"},
		"sources": [{"path": %q, "content": "def go(*a): ...\n"}]}`, name, spec, file, file)
}

func TestADefinitionWithItsWorkloadsBecomesATask(t *testing.T) {
	for name, files := range map[string]map[string]string{
		"sol-execbench": {"p/definition.json": scaled, "p/workload.jsonl": line(300, "") + line(2, ""),
			"p/solution.json":      solved("Mine", `"languages": ["pytorch"]`, "fast.py"),
			"p/solution_cuda.json": solved("native", `"languages": ["cuda_cpp"]`, "a.cu")},
		"flashinfer-trace": {"definitions/sum/scaled_sum.json": scaled,
			"workloads/sum/scaled_sum.jsonl": traced(300, "") + traced(2, ""),
			"traces/x.jsonl":                 traced(9, `, "evaluation": {}`),
			"solutions/s.json":               solved("mine", `"language": "python"`, "fast.py")},
	} {
		got, wrong := read(files, ImportOptions{})
		task := got["scaled_sum"]
		if wrong != "" {
			t.Fatal(wrong)
		}
		yml := string(task.Files["task.yml"])
		wantText(t, yml, "- {n: 2, alpha: 1.0e-05, seed: 1001}\n  - {n: 300, alpha: 1.0e-05, seed: 1002}\nbenchmarks:",
			`tags: ["`+name+`", "sum"]`, "| input | `y` | (n, m) | `float16` | first |")
		wantText(t, string(task.Files["solutions/correct/mine/submission.py"]), "from fast import go as run")
		var about struct {
			Inputs json.RawMessage
		}
		if err := json.Unmarshal(task.Files["definition.json"], &about); err != nil {
			t.Fatal(err)
		}
		if y, x := bytes.Index(about.Inputs, []byte(`"y"`)), bytes.Index(about.Inputs, []byte(`"x"`)); y < 0 || x < y {
			t.Errorf("the inputs are in another order: %s", about.Inputs)
		}
		wantText(t, yml, map[string]string{
			"sol-execbench":    "tolerance: {atol: 0.01, rtol: 0.01, matched: 0.99, infinite: never}",
			"flashinfer-trace": "tolerance: {atol: 0.01, rtol: 0.01}",
		}[name])
		if name == "sol-execbench" {
			wantText(t, strings.Join(task.OmissionNotes, "\n"),
				"The solution native is not carried over: it is in cuda_cpp, and the task is in Python.")
		}
	}
}

func TestTheStrictestToleranceCounts(t *testing.T) {
	got, wrong := read(map[string]string{"definition.json": scaled, "workload.jsonl": `{"uuid": "a", "axes": {"n": 2},` +
		` "tolerance": {"max_atol": 0.1, "required_matched_ratio": 0.9, "max_error_cap": 3}}
{"uuid": "b", "axes": {"n": 3}, "tolerance": {"max_atol": 0.2, "max_rtol": 0.001}}` + "\n"}, ImportOptions{})
	task := got["scaled_sum"]
	wantText(t, string(task.Files["task.yml"]),
		"tolerance: {atol: 0.1, rtol: 0.001, matched: 0.99, max_error: 3.0, infinite: never}")
	wantText(t, strings.Join(task.OmissionNotes, "\n")+wrong, "The tolerances of its workloads differ")
}

// safetensors returns a safetensors file with int32 values. Its header and header length may be wrong.
func safetensors(header string, length int, values ...int32) string {
	file := binary.LittleEndian.AppendUint64(nil, uint64(length))
	file = append(file, header...)
	for _, value := range values {
		file = binary.LittleEndian.AppendUint32(file, uint32(value))
	}
	return string(file)
}

// stating returns a safetensors file in whose header old is replaced by other, so that it may not match the data.
func stating(old, other string) string {
	header := strings.Replace(indices, old, other, 1)
	return safetensors(header, len(header), 7, 8)
}

const indices = `{"i": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}}`

// indexIn returns JSON for the input "index" of a workload, which is stored in a safetensors file.
func indexIn(file string) string {
	return fmt.Sprintf(`, "index": {"type": "safetensors", "path": %q, "tensor_key": "i"}`, file)
}

func TestStoredInputsComeAlong(t *testing.T) {
	files := map[string]string{"set/p/definition.json": scaled,
		"set/blob/a.safetensors": safetensors(indices, len(indices), 7, -1),
		"set/p/workload.jsonl":   line(2, indexIn("elsewhere/blob/a.safetensors")) + line(5, indexIn("gone.safetensors"))}
	got, wrong := read(files, ImportOptions{MaxDimension: 1})
	if wrong != "" {
		t.Fatal(wrong)
	}
	task := got["scaled_sum"]
	wantText(t, string(task.Files["task.yml"]), "- {workload: 0, n: 2, alpha: 1.0e-05, seed: 1001}",
		`source: "tensors.json"`)
	wantText(t, strings.Join(task.OmissionNotes, "\n"), "1 of its 2 workloads are left out: "+
		"the input index names the file gone.safetensors, which is not in the upload.")
	var stored map[string]map[string]storedTensor
	if err := json.Unmarshal(task.Files["tensors.json"], &stored); err != nil {
		t.Fatal(err)
	}
	packed, err := base64.StdEncoding.DecodeString(stored["0"]["index"].Data)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := zlib.NewReader(bytes.NewReader(packed))
	if err != nil {
		t.Fatal(err)
	}
	if data, err := io.ReadAll(plain); err != nil || !bytes.Equal(data, []byte{7, 0, 0, 0, 255, 255, 255, 255}) {
		t.Errorf("%v, %v", data, err)
	}
}

func TestAFileThatLiesAboutItsSizesIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ file, want string }{
		"header": {safetensors(indices, 1<<40, 7, 8), "states a header of 1099511627776 bytes"},
		"short":  {"abc", "is too short"},
		"data": {stating("[0, 8]", "[0, 99]"),
			`states that "i" takes 8 bytes at 0 to 99, and has 8 bytes of data`},
		"backwards": {stating("[0, 8]", "[8, 0]"), "at 8 to 0"},
		"overflow":  {stating("[2]", "[4611686018427387904, 4]"), "states an impossible shape"},
		"negative":  {stating("[2]", "[-2]"), "states an impossible shape"},
		"type":      {stating("I32", "F32"), `has "i" as F32, and the definition as int32`},
		"shape":     {stating("[2]", "[1, 2]"), "has the shape [1 2]"},
		"other":     {safetensors(`{"j": {}}`, 9), `has no tensor "i"`},
		"no JSON":   {safetensors("{{{", 3), "has no readable header"},
	} {
		_, wrong := read(map[string]string{"definition.json": scaled, "a.safetensors": c.file,
			"workload.jsonl": line(2, indexIn("a.safetensors"))}, ImportOptions{})
		if !strings.HasPrefix(wrong, "workload.jsonl:1: the input index ") || !strings.Contains(wrong, c.want) {
			t.Errorf("%s: %q, want %q", name, wrong, c.want)
		}
	}
}

func TestABrokenDefinitionIsRefusedWithItsReason(t *testing.T) {
	for want, change := range map[string][2]string{
		"definition.json: is no definition":                                 {`{"name"`, `{name`},
		"has no name":                                                       {`"scaled_sum"`, `""`},
		"its reference has no function run at its top level":                {"def run", "def other"},
		`the shape of y has the axis "q", which is not among axes`:          {`["n", "m"]`, `["n", "q"]`},
		"y is of float4_e2m1, which a task cannot hand over":                {`float16`, `float4_e2m1`},
		"the axis m is of the unknown type \"konst\"":                       {`"const"`, `"konst"`},
		"needs inputs and outputs":                                          {`"outputs": {"sum"`, `"outputs": {}, "rest": {"sum"`},
		"workload.jsonl:1: has":                                             {`"n": {"type": "var"}`, `"n": {"type": "const", "value": 2}, "p": {"type": "var"}`},
		`workload.jsonl:1: has the input alpha, which the definition lacks`: {`"alpha":`, `"beta":`},
		`the axis "seed" cannot be the name of a case's argument`: {`"n": {"type": "var"}`,
			`"n": {"type": "var"}, "seed": {"type": "var"}`},
		"its reference has no function make, which custom_inputs_entrypoint n": {`"op_type": "sum"`, `"custom_inputs_entrypoint": "make"`},
	} {
		text := strings.Replace(scaled, change[0], change[1], 1)
		_, wrong := read(map[string]string{"definition.json": text, "workload.jsonl": line(2, "")}, ImportOptions{})
		if !strings.Contains(wrong, want) {
			t.Errorf("%q, want %q", wrong, want)
		}
	}
	_, wrong := read(map[string]string{"definition.json": scaled, "workload.jsonl": line(2, "") + "{broken\n"}, ImportOptions{})
	wantText(t, wrong, "workload.jsonl:2: is no workload")
	_, wrong = read(map[string]string{"definition.json": scaled}, ImportOptions{})
	wantText(t, wrong, "definition.json: has no workloads")
}

func TestAWorkloadOfGigabytesIsRefusedUnread(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/definition.json", []byte(scaled), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(dir + "/workload.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if err := file.Truncate(4 << 30); err != nil {
		t.Fatal(err)
	}
	list := ReadProblems(filetree.FolderTree(os.DirFS(dir), filetree.Limits{MaxFiles: 10}), ImportOptions{})
	if len(list) != 1 || list[0].Err == nil || !strings.Contains(list[0].Err.Error(), "is larger than 4 MiB") {
		t.Errorf("%+v", list)
	}
}

func TestManyLargeFilesAreNotAllRead(t *testing.T) {
	files := fstest.MapFS{}
	files["00.py"] = &fstest.MapFile{Data: []byte(model)}
	for i := range 17 {
		files[fmt.Sprintf("%02d.json", i)] = &fstest.MapFile{Data: make([]byte, 4<<20)}
	}
	files["99.py"] = &fstest.MapFile{Data: []byte(model)}
	list := ReadProblems(filetree.FolderTree(files, filetree.Limits{}), ImportOptions{})
	if len(list) != 2 || list[0].Err != nil || list[1].Err == nil ||
		!strings.Contains(list[1].Err.Error(), "99.py: is not read: the files before it have 64 MiB") {
		t.Errorf("the tasks are %+v", list)
	}
}

const challenge = `import ctypes
import torch
from core.challenge_base import ChallengeBase, RandTensor, OutTensor

class Challenge(ChallengeBase):
    name = "Double it"
    atol = 1e-05
    rtol = 1e-05
    num_gpus = 1

    def reference_impl(self, x, out, n):
        out.copy_(2 * x)

    def get_solve_signature(self):
        return {"x": (ctypes.c_void_p, "in"), "out": (ctypes.c_void_p, "out"), "n": (ctypes.c_int, "in")}

    def generate_example_test(self):
        return {"x": torch.ones(4096, device=self.device), "out": torch.empty(4096, device=self.device), "n": 4096}

    def generate_functional_test(self):
        n = 4096
        return [self.generate_example_test()]

    def generate_performance_test(self):
        n = 1 << 20
        m = 100000
        return {"x": RandTensor((m,)), "out": OutTensor((m,)), "n": m}
`

func TestAChallengeBecomesATask(t *testing.T) {
	files := map[string]string{"easy/3_double/challenge.py": challenge,
		"easy/3_double/starter/starter.pytorch.py": "def solve(x, out, n):\n    pass\n",
		"easy/3_double/starter/starter.cu":         "x",
		"easy/3_double/challenge.html": "<p>\n  Double \\( x_i \\) in <code>out</code>:\n  \\[ 2x \\]\n</p>" +
			"<svg><text>drawn</text></svg>\n<ul>\n  <li>1 &le; <code>n</code></li>\n</ul><pre>a\n  b</pre>" +
			"<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>",
		"easy/4_many/challenge.py":             strings.Replace(challenge, "num_gpus = 1", "num_gpus = 4", 1),
		"hard/5_half/challenge.py":             strings.Replace(challenge, "def generate_example_test(", "def example(", 1),
		"hard/6_no_statement/challenge.py":     challenge,
		"hard/6_no_statement/starter.other.py": "",
	}
	got, wrong := read(files, ImportOptions{MaxDimension: 1000})
	if wrong != "easy/4_many: needs several GPUs, and an imported task runs on one\n"+
		"hard/5_half: challenge.py has no method generate_example_test\n" {
		t.Errorf("the errors are\n%s", wrong)
	}
	task := got["3_double"]
	wantText(t, string(task.Files["task.yml"]), `title: "Double it"`, `tags: ["leetgpu", "beginner"]`,
		"  Double $x_i$ in `out`:\n\n  $$\n", "- 1 ≤ `n`\n", "  ```\n  a\n    b\n  ```\n",
		"| a | b |\n  |---|---|\n  | 1 | 2 |\n", `{test: "functional", seed: 2002}`, `"PyTorch": "starter.pytorch.py"`)
	if yml := string(task.Files["task.yml"]); strings.Contains(yml, "drawn") {
		t.Errorf("the drawing's text is in %s", yml)
	}
	wantText(t, string(task.Files["problem.py"]), "        m = 512\n", "n = 4096\n        return [self",
		"        n = 1 << 20\n")
	wantText(t, strings.Join(task.OmissionNotes, "\n"), "Only the starters for PyTorch and Triton",
		"The statement's drawing is not carried over.", "Smaller than in the challenge: m = 512 instead of 100000.")
	wantText(t, strings.Join(got["6_no_statement"].OmissionNotes, "\n"), "There is no challenge.html")
}

func TestAProblemThatIsTheWholeUploadHasItsName(t *testing.T) {
	got, wrong := read(map[string]string{"challenge.py": challenge}, ImportOptions{Name: "3_double"})
	if got["3_double"].Files == nil {
		t.Errorf("%v, %s", got, wrong)
	}
}

func TestAnUploadCannotMakeTheSiteReadWithoutEnd(t *testing.T) {
	_, wrong := read(map[string]string{"definition.json": scaled, "workload.jsonl": strings.Repeat(line(2, ""), 513)}, ImportOptions{})
	wantText(t, wrong, "definition.json: has 513 workloads; at most 512 can be imported")
	_, wrong = read(map[string]string{"definition.json": scaled, "workload.jsonl": line(2, indexIn(strings.Repeat("a/", 9999)))},
		ImportOptions{})
	wantText(t, wrong, "the input index names a file by more than 1000 characters")

	// One file of 4 MiB, which every workload reads.
	header := fmt.Sprintf(`{"i": {"dtype": "I32", "shape": [2], "data_offsets": [0, 8]}, "%s": 1}`, strings.Repeat("x", 4<<20-200))
	files := map[string]string{"definition.json": scaled, "large.safetensors": safetensors(header, len(header), 7, -1)}
	for n := range 40 {
		files["workload.jsonl"] += strings.Replace(line(2, indexIn("large.safetensors")), "w2", fmt.Sprint("w", n), 1)
	}
	got, wrong := read(files, ImportOptions{})
	wantText(t, strings.Join(got["scaled_sum"].OmissionNotes, "\n")+wrong, "of its 40 workloads are left out: the input index is not read: "+
		"the files before it have 64 MiB.")
}
