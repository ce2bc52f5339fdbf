package importing

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"warpboard/tasks/pyyaml"
)

// definition is a problem in the JSON format that SOL-ExecBench and FlashInfer Trace share.
type definition struct {
	Name        string                `json:"name"`
	OpType      string                `json:"op_type"`
	Description string                `json:"description"`
	Axes        map[string]tensorAxis `json:"axes"`
	Custom      string                `json:"custom_inputs_entrypoint"`
	Inputs      namedTensors          `json:"inputs"`
	Outputs     namedTensors          `json:"outputs"`
	Reference   string                `json:"reference"`
}

// tensorAxis is one dimension of a tensor: a constant, a variable that each workload sets, or an expression with other
// axes.
type tensorAxis struct {
	Type       string `json:"type"`
	Value      int    `json:"value,omitempty"`
	Expression string `json:"expression,omitempty"`
}

// tensor is an input or output; a nil shape means a number instead of a tensor.
type tensor struct {
	name        string
	Shape       []string `json:"shape"`
	DType       string   `json:"dtype"`
	Description string   `json:"description,omitempty"`
}

// namedTensors lists the inputs or outputs of a problem in the order of the arguments of its function run.
type namedTensors []tensor

// UnmarshalJSON reads an object and keeps the order of its keys.
func (t *namedTensors) UnmarshalJSON(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return errors.New("is no object of tensors by name")
	}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return err
		}
		var one tensor
		if err := d.Decode(&one); err != nil {
			return fmt.Errorf("%v: %w", key, err)
		}
		one.name = fmt.Sprint(key)
		*t = append(*t, one)
	}
	return nil
}

// MarshalJSON writes an object with the keys in the order of the tensors.
func (t namedTensors) MarshalJSON() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte('{')
	for i, one := range t {
		if i > 0 {
			out.WriteByte(',')
		}
		name, _ := json.Marshal(one.name)       // cannot fail: the name is a string
		value, err := json.Marshal(tensor(one)) // JSON omits the name, an unexported field
		if err != nil {
			return nil, err
		}
		out.Write(name)
		out.WriteByte(':')
		out.Write(value)
	}
	out.WriteByte('}')
	return out.Bytes(), nil
}

func (t namedTensors) tensorNamed(name string) (tensor, bool) {
	at := slices.IndexFunc(t, func(one tensor) bool { return one.name == name })
	if at < 0 {
		return tensor{}, false
	}
	return t[at], true
}

// dtypeSizes maps the name of an element type to its size in bytes.
var dtypeSizes = map[string]int{
	"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8_e4m3fn": 1, "float8_e5m2": 1,
	"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1, "bool": 1,
}

const maxTensors, maxDimensions, maxSolutions = 64, 16, 16 // limits for one definition

var (
	runFunctionPattern = regexp.MustCompile(`(?m)^(?:async )?def run\b`)
	identifierPattern  = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// isDefinition reports whether a JSON file looks like a definition, even an incomplete one.
func isDefinition(name string, text []byte) bool {
	if path.Base(name) == "definition.json" || slices.Contains(strings.Split(path.Dir(name), "/"), "definitions") {
		return true
	}
	var keys map[string]json.RawMessage
	return json.Unmarshal(text, &keys) == nil && keys["axes"] != nil && keys["reference"] != nil
}

// readTraces returns a task for each definition in the upload.
func (r *problemReader) readTraces() (list []Task) {
	x := r.uploadIndex()
	for name, text := range r.textsByPath {
		if path.Ext(name) == ".json" && isDefinition(name, text) {
			list = append(list, r.makeTask(name, func(f *taskFolder) error {
				return r.readDefinition(f, name, text,
					x)
			}))
		}
	}
	for name, err := range r.readErrors {
		if path.Ext(name) == ".json" && isDefinition(name, nil) {
			list = append(list, r.makeTask(name, func(*taskFolder) error { return err }))
		}
	}
	return list
}

// readDefinition writes the files of one definition, with its workloads, to its task folder.
func (r *problemReader) readDefinition(f *taskFolder, file string, text []byte, x *uploadIndex) error {
	var d definition
	if err := json.Unmarshal(text, &d); err != nil {
		return fmt.Errorf("is no definition: %w", err)
	}
	if f.name = d.Name; d.Name == "" {
		return errors.New("has no name")
	}
	if err := d.check(); err != nil {
		return err
	}
	w, err := r.readWorkloads(f, file, d, x)
	if err != nil {
		return err
	}
	about := struct {
		Axes    map[string]tensorAxis `json:"axes"`
		Custom  string                `json:"custom_inputs_entrypoint"`
		Inputs  namedTensors          `json:"inputs"`
		Outputs namedTensors          `json:"outputs"`
	}{d.Axes, d.Custom, d.Inputs, d.Outputs}
	f.tolerance = w.tolerance(f)
	if f.files["definition.json"], err = json.MarshalIndent(about, "", "  "); err != nil {
		return err
	}
	if len(w.storedByWorkload) > 0 {
		if f.files["tensors.json"], err = json.Marshal(w.storedByWorkload); err != nil {
			return err
		}
		f.runFiles = append(f.runFiles, "tensors.json")
	}
	f.runFiles = append(f.runFiles, "definition.json")
	f.title, f.tags = titleFromName(d.Name), []string{w.formatName(), d.OpType}
	f.files["problem.py"], f.files["template.py"] = []byte(d.Reference+"\n"), []byte(d.Reference+"\n")
	f.templates = map[string]string{"Python": "template.py"}
	f.writeDefinitionText(d)
	f.addSolutions(x.solutions[d.Name], path.Dir(file))
	if foreign := foreignModules(d.Reference); len(foreign) > 0 {
		f.addNote("The reference imports %s, which its workers must have.", strings.Join(foreign, ", "))
	}
	return f.addProgram("task.py", "trace.py")
}

// check returns an error for a definition that the task's program, python/trace.py, cannot use.
func (d definition) check() error {
	switch {
	case !runFunctionPattern.MatchString(d.Reference):
		return errors.New("its reference has no function run at its top level")
	case len(d.Inputs) == 0 || len(d.Outputs) == 0:
		return errors.New("needs inputs and outputs")
	case max(len(d.Inputs), len(d.Outputs), len(d.Axes)) > maxTensors:
		return fmt.Errorf("has more than %d inputs, outputs, or axes", maxTensors)
	case d.Custom != "" && !strings.Contains(d.Reference, "def "+d.Custom+"("):
		return fmt.Errorf("its reference has no function %s, which custom_inputs_entrypoint names", d.Custom)
	}
	for _, name := range slices.Sorted(maps.Keys(d.Axes)) {
		switch one := d.Axes[name]; {
		case !identifierPattern.MatchString(name) || slices.Contains([]string{"seed", "workload", "devices"}, name):
			return fmt.Errorf("the axis %q cannot be the name of a case's argument", name)
		case !slices.Contains([]string{"const", "var", "expr"}, one.Type):
			return fmt.Errorf("the axis %s is of the unknown type %q", name, one.Type)
		case one.Type == "const" && one.Value < 0:
			return fmt.Errorf("the axis %s is %d", name, one.Value)
		}
	}
	for _, one := range slices.Concat(d.Inputs, d.Outputs) {
		if dtypeSizes[one.DType] == 0 {
			return fmt.Errorf("%s is of %s, which a task cannot hand over", one.name, cmp.Or(one.DType, "no type"))
		}
		if len(one.Shape) > maxDimensions {
			return fmt.Errorf("%s has more than %d dimensions", one.name, maxDimensions)
		}
		for _, of := range one.Shape {
			if _, err := strconv.Atoi(of); err != nil && d.Axes[of].Type == "" {
				return fmt.Errorf("the shape of %s has the axis %q, which is not among axes", one.name, of)
			}
		}
	}
	return nil
}

func (f *taskFolder) writeDefinitionText(d definition) {
	var table strings.Builder
	for _, list := range []struct {
		of  string
		all namedTensors
	}{{"input", d.Inputs}, {"output", d.Outputs}} {
		for _, one := range list.all {
			shape := "a number"
			if one.Shape != nil {
				shape = "(" + strings.Join(one.Shape, ", ") + ")"
			}
			about := strings.Join(strings.Fields(one.Description), " ")
			fmt.Fprintf(&table, "| %s | `%s` | %s | `%s` | %s |\n", list.of, one.name, shape, one.DType, about)
		}
	}
	t := f.tolerance
	accuracy := fmt.Sprintf("absolute tolerance %v, relative %v", t.ATol, t.RTol)
	if t.Matched < 1 {
		accuracy += fmt.Sprintf(", for at least %v %% of the elements", 100*t.Matched)
	}
	if t.MaxError != nil {
		accuracy += fmt.Sprintf("; no element may differ by more than %v", *t.MaxError)
	}
	f.description = markdownText(`%s

| | name | shape | type | |
|---|---|---|---|---|
%s
Write a function ''run'' that takes the inputs in this order and returns the outputs. A ''run'' that also takes the
outputs writes them instead. Or define ''custom_kernel(data)'', which gets a list of the inputs.

Answers are compared with the reference's: %s. The caches are flushed before every timed call.

~~~python
%s
~~~
`, strings.TrimSpace(d.Description), table.String(), accuracy, strings.TrimSpace(d.Reference))
}

// importedSolution is a submission in the form of SOL-ExecBench and FlashInfer Trace.
type importedSolution struct {
	definitionFile string // path of this JSON file in the upload
	Name           string `json:"name"`
	Definition     string `json:"definition"`
	Spec           struct {
		Language   string   `json:"language"`
		Languages  []string `json:"languages"`
		EntryPoint string   `json:"entry_point"`
	} `json:"spec"`
	Sources []struct {
		Path    string `json:"path"`
		Content string `json:"content"`
	} `json:"sources"`
}

// addSolutions adds the solutions of a definition in Python whose files are in dir or in a folder "solutions".
func (f *taskFolder) addSolutions(list []importedSolution, dir string) {
	for i, s := range list {
		if path.Dir(s.definitionFile) != dir && !slices.Contains(strings.Split(s.definitionFile, "/"), "solutions") {
			continue
		}
		if i >= maxSolutions {
			f.addNote("Only %d of its %d solutions are carried over.", maxSolutions, len(list))
			return
		}
		if err := f.addSolution(s); err != nil {
			f.addNote("The solution %s is not carried over: %v.", cmp.Or(s.Name, s.definitionFile), err)
		}
	}
}

// addSolution adds a folder to solutions/correct, which has the solutions that must pass. Its submission.py imports the
// entry point of the solution as run, the name that the harness calls.
func (f *taskFolder) addSolution(s importedSolution) error {
	file, function, ok := strings.Cut(s.Spec.EntryPoint, "::")
	module, isPython := strings.CutSuffix(file, ".py")
	language := strings.Join(append(s.Spec.Languages, s.Spec.Language), " ")
	switch {
	case !ok || !isPython || !identifierPattern.MatchString(module) || !identifierPattern.MatchString(function):
		language = cmp.Or(strings.TrimSpace(language), "an unknown language")
		return fmt.Errorf("it is in %s, and the task is in Python", language)
	case slices.Contains([]string{"solution", "submission", "problem", "task", "reference"}, module):
		return fmt.Errorf("its file %s has the name of a file of the task", file)
	}
	dir := "solutions/correct/" + strings.Join(tagPartPattern.FindAllString(strings.ToLower(s.Name), -1), "_")
	files := map[string][]byte{
		dir + "/submission.py": fmt.Appendf(nil, "from %s import %s as run  # noqa: F401\n", module, function),
	}
	for _, source := range s.Sources {
		if path.Base(source.Path) != source.Path || source.Path == "submission.py" {
			return fmt.Errorf("its file %s is in a folder", source.Path)
		}
		files[path.Join(dir, source.Path)] = []byte(source.Content)
	}
	maps.Copy(f.files, files)
	return nil
}

// caseOfWorkload returns the keys and values of a case, with the axes and scalars of a workload.
func caseOfWorkload(w workload, d definition, seed int, number string) []any {
	var pairs []any
	if len(w.storedTensors) > 0 {
		pairs = append(pairs, "workload", pyyaml.UnquotedNode(number))
	}
	for _, name := range slices.Sorted(maps.Keys(w.Axes)) {
		pairs = append(pairs, name, pyyaml.UnquotedNode(strconv.Itoa(w.Axes[name])))
	}
	for _, one := range d.Inputs {
		if value, ok := w.scalarTexts[one.name]; ok {
			pairs = append(pairs, one.name, pyyaml.UnquotedNode(value))
		}
	}
	return append(pairs, "seed", pyyaml.UnquotedNode(strconv.Itoa(seed)))
}
