package importing

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/parse"
	"warpboard/tasks/pyyaml"
)

// workload is one set of inputs for a definition, with a value for each variable axis.
type workload struct {
	UUID          string                  `json:"uuid"`
	Axes          map[string]int          `json:"axes"`
	Inputs        map[string]inputSource  `json:"inputs"`
	Tolerance     *importedTolerance      `json:"tolerance"`
	scalarTexts   map[string]string       // YAML values of scalar inputs, by input name
	storedTensors map[string]storedTensor // inputs read from files, by input name
	elementCount  float64                 // elements of all inputs; an axis given by an expression counts as 1
}

// inputSource is the origin of the values of an input.
type inputSource struct {
	Type  string          `json:"type"` // random, scalar, safetensors, or custom
	Value json.RawMessage `json:"value"`
	Path  string          `json:"path"`
	Key   string          `json:"tensor_key"`
}

type importedTolerance struct {
	ATol     *float64 `json:"max_atol"`
	RTol     *float64 `json:"max_rtol"`
	Matched  *float64 `json:"required_matched_ratio"`
	MaxError *float64 `json:"max_error_cap"`
	Negative bool     `json:"allow_negative_inf"`
}

// tolerance has the keys of task.yml for comparing outputs.
type tolerance struct {
	ATol, RTol, Matched float64
	MaxError            *float64
	Infinite            string // infinities that equal themselves in a comparison: equal (all), negative, or never
}

func (t tolerance) node() *yaml.Node {
	pairs := []any{"atol", pyyaml.FloatNode(t.ATol), "rtol", pyyaml.FloatNode(t.RTol)}
	if t.Matched < 1 {
		pairs = append(pairs, "matched", pyyaml.FloatNode(t.Matched))
	}
	if t.MaxError != nil {
		pairs = append(pairs, "max_error", pyyaml.FloatNode(*t.MaxError))
	}
	if t.Infinite != "equal" {
		pairs = append(pairs, "infinite", pyyaml.UnquotedNode(t.Infinite))
	}
	return pyyaml.FlowMapping(pairs...)
}

// storedTensor is an input whose values the task stores.
type storedTensor struct {
	DType string `json:"dtype"`
	Shape []int  `json:"shape"`
	Data  string `json:"data"` // values, compressed with zlib, in base64
}

const (
	maxTests, maxBenchmarks = 5, 16
	maxWorkloads            = 512     // limit for one definition
	maxStoredBytes          = 2 << 20 // limit for all Data of one task, in bytes
)

// workloadSet are all workloads of a definition.
type workloadSet struct {
	workloads        []workload
	isFlashInfer     bool // the workloads come from lines in the format of FlashInfer Trace
	storedByWorkload map[string]map[string]storedTensor
}

func (w *workloadSet) formatName() string {
	if w.isFlashInfer {
		return "flashinfer-trace"
	}
	return "sol-execbench"
}

// jsonLine is one line of a JSONL file that may be a workload.
type jsonLine struct {
	file   string
	number int
	text   []byte // JSON of the workload, without a trace around it
	err    error  // error if the line is not JSON
}

// uploadIndex has the JSON lines and solutions of an upload. It is made once, because an upload can have many
// definitions.
type uploadIndex struct {
	linesByFolder     map[string][]jsonLine // workloads outside traces, by folder of their file
	linesByDefinition map[string][]jsonLine // workloads in traces, by name of the definition
	solutions         map[string][]importedSolution
}

func (r *problemReader) uploadIndex() *uploadIndex {
	x := &uploadIndex{map[string][]jsonLine{}, map[string][]jsonLine{}, map[string][]importedSolution{}}
	for _, name := range slices.Sorted(maps.Keys(r.textsByPath)) {
		switch path.Ext(name) {
		case ".jsonl":
			x.addLines(name, r.textsByPath[name])
		case ".json":
			s := importedSolution{definitionFile: name}
			if json.Unmarshal(r.textsByPath[name], &s) == nil && s.Definition != "" && len(s.Sources) > 0 {
				x.solutions[s.Definition] = append(x.solutions[s.Definition], s)
			}
		}
	}
	return x
}

// addLines adds the lines of a JSONL file. It omits traces with the results of a solution, because they repeat
// workloads.
func (x *uploadIndex) addLines(name string, text []byte) {
	number := 0
	for one := range bytes.Lines(text) {
		if number++; len(bytes.TrimSpace(one)) == 0 {
			continue
		}
		var trace struct {
			Definition string          `json:"definition"`
			Workload   json.RawMessage `json:"workload"`
			Evaluation any             `json:"evaluation"`
		}
		err := json.Unmarshal(one, &trace)
		l := jsonLine{file: name, number: number, text: one, err: err}
		switch {
		case err != nil:
			x.linesByDefinition[nameWithoutSuffix(name)] = append(x.linesByDefinition[nameWithoutSuffix(name)], l)
			fallthrough
		case trace.Workload == nil:
			x.linesByFolder[path.Dir(name)] = append(x.linesByFolder[path.Dir(name)], l)
		case trace.Evaluation == nil:
			l.text = trace.Workload
			x.linesByDefinition[trace.Definition] = append(x.linesByDefinition[trace.Definition], l)
		}
	}
}

// readWorkloads reads the workloads of a definition from the JSONL files in its folder, or from lines that contain the
// name of the definition.
func (r *problemReader) readWorkloads(f *taskFolder, file string, d definition, x *uploadIndex) (*workloadSet, error) {
	for _, name := range slices.Sorted(maps.Keys(r.readErrors)) {
		if path.Ext(name) == ".jsonl" && (path.Dir(name) == path.Dir(file) || nameWithoutSuffix(name) == d.Name) {
			return nil, r.readErrors[name]
		}
	}
	w := &workloadSet{isFlashInfer: len(x.linesByDefinition[d.Name]) > 0,
		storedByWorkload: map[string]map[string]storedTensor{}}
	lines := slices.Concat(x.linesByFolder[path.Dir(file)], x.linesByDefinition[d.Name])
	if len(lines) > maxWorkloads {
		return nil, fmt.Errorf("has %d workloads; at most %d can be imported", len(lines), maxWorkloads)
	}
	var left []string
	for _, l := range lines {
		one, err := workload{}, l.err
		if err == nil {
			err = json.Unmarshal(l.text, &one)
		}
		if err != nil {
			err = fmt.Errorf("is no workload: %w", err)
		} else {
			err = r.checkAndLoad(&one, d, l.file)
		}
		var small omissionError
		switch {
		case errors.As(err, &small):
			left = append(left, err.Error())
		case err != nil:
			return nil, parse.Problem{File: l.file, Line: l.number, Message: err.Error()}
		default:
			w.workloads = append(w.workloads, one)
		}
	}
	switch {
	case len(w.workloads) == 0 && len(left) > 0:
		return nil, fmt.Errorf("has no workload that could be kept: %s", left[0])
	case len(w.workloads) == 0:
		return nil, errors.New("has no workloads")
	case len(left) > 0:
		reasons := strings.Join(slices.Compact(left), ", ")
		f.addNote("%d of its %d workloads are left out: %s.", len(left), len(left)+len(w.workloads), reasons)
	}
	return w, w.fillCases(f, d, r.importOptions.MaxDimension)
}

// checkAndLoad checks a workload and reads its stored inputs.
func (r *problemReader) checkAndLoad(w *workload, d definition, file string) error {
	w.scalarTexts, w.storedTensors = map[string]string{}, map[string]storedTensor{}
	for name, one := range d.Axes {
		if size, ok := w.Axes[name]; one.Type == "var" && (!ok || size < 0) {
			return fmt.Errorf("has no size for the axis %s", name)
		}
	}
	for name := range w.Axes {
		if d.Axes[name].Type != "var" {
			return fmt.Errorf("has the axis %s, which is no variable of the definition", name)
		}
	}
	for name, from := range w.Inputs {
		of, known := d.Inputs.tensorNamed(name)
		if !known {
			return fmt.Errorf("has the input %s, which the definition lacks", name)
		}
		var err error
		switch from.Type {
		case "random":
		case "custom":
			if d.Custom == "" {
				err = errors.New("is custom, and the definition has no custom_inputs_entrypoint")
			}
		case "scalar":
			w.scalarTexts[name], err = yamlLiteral(from.Value)
		case "safetensors":
			w.storedTensors[name], err = r.readStoredInput(from, of, func(axis string) (int, bool) { return w.axisSize(d, axis) }, file)
		default:
			err = fmt.Errorf("is of the unknown type %q", from.Type)
		}
		if err != nil {
			return fmt.Errorf("the input %s %w", name, err)
		}
	}
	for _, one := range d.Inputs {
		count := 1.0
		for _, axis := range one.Shape {
			if n, known := w.axisSize(d, axis); known {
				count *= float64(n)
			}
		}
		w.elementCount += count
	}
	return nil
}

// yamlLiteral returns a JSON number or boolean in a form that PyYAML reads as the same value.
func yamlLiteral(value json.RawMessage) (string, error) {
	text := string(value)
	if text == "true" || text == "false" || !strings.ContainsAny(text, ".eE") {
		var known any
		err := json.Unmarshal(value, &known)
		if _, isText := known.(string); isText || known == nil {
			err = errors.New("is no number")
		}
		return text, err
	}
	number, err := strconv.ParseFloat(text, 64)
	return pyyaml.FloatNode(number).Value, err
}

// axisSize returns the size of an axis; known is false for an axis that is an expression.
func (w *workload) axisSize(d definition, name string) (n int, known bool) {
	if n, err := strconv.Atoi(name); err == nil {
		return n, true
	}
	switch one := d.Axes[name]; one.Type {
	case "const":
		return one.Value, true
	case "var":
		return w.Axes[name], true
	}
	return 0, false
}

// fillCases writes the cases of the folder: the smallest workloads become tests, and workloads of all sizes, at most
// maxBenchmarks, become benchmarks.
func (w *workloadSet) fillCases(f *taskFolder, d definition, largest int) error {
	w.reduceAxes(f, d, largest)
	bySize := slices.Clone(w.workloads)
	slices.SortStableFunc(bySize, func(a, b workload) int { return cmp.Compare(a.elementCount, b.elementCount) })
	timed := bySize
	if len(timed) > maxBenchmarks {
		f.addNote("%d of its %d workloads are benchmarks: evenly by size.", maxBenchmarks, len(timed))
		timed = nil
		for i := range maxBenchmarks {
			timed = append(timed, bySize[i*(len(bySize)-1)/(maxBenchmarks-1)])
		}
	}
	size := 0
	for i, one := range slices.Concat(bySize[:min(maxTests, len(bySize))], timed) {
		number := strconv.Itoa(slices.IndexFunc(w.workloads, func(other workload) bool { return other.UUID == one.UUID }))
		for _, stored := range one.storedTensors {
			size += len(stored.Data)
		}
		if len(one.storedTensors) > 0 && w.storedByWorkload[number] == nil {
			w.storedByWorkload[number] = one.storedTensors
		}
		node := pyyaml.FlowMapping(caseOfWorkload(one, d, 1001+i, number)...)
		if i < maxTests && i < len(bySize) {
			f.tests = append(f.tests, node)
		} else {
			f.benchmarks = append(f.benchmarks, node)
		}
	}
	if size > maxStoredBytes {
		return fmt.Errorf("the stored inputs of its workloads take %s, and a task holds %s",
			parse.SizeText(int64(size)), parse.SizeText(maxStoredBytes))
	}
	f.tests, f.benchmarks = removeEqualCases(f.tests), removeEqualCases(f.benchmarks)
	return nil
}

// removeEqualCases removes cases that differ from an earlier one only in their seed.
func removeEqualCases(cases []*yaml.Node) (list []*yaml.Node) {
	seen := map[string]bool{}
	for _, one := range cases {
		var key strings.Builder
		for _, value := range one.Content[:len(one.Content)-2] {
			key.WriteString(value.Value + ";")
		}
		if !seen[key.String()] {
			list = append(list, one)
		}
		seen[key.String()] = true
	}
	return list
}

// reduceAxes reduces the variable axes to at most largest, in workloads that have no stored inputs.
func (w *workloadSet) reduceAxes(f *taskFolder, d definition, largest int) {
	if largest < 1 {
		return
	}
	changed := false
	for i := range w.workloads {
		for name, size := range w.workloads[i].Axes {
			if size > largest && len(w.workloads[i].storedTensors) == 0 {
				w.workloads[i].Axes[name], changed = halveUntilAtMost(size, largest), true
			}
		}
	}
	if changed {
		f.addNote("Its variable axes are at most %d; constant ones stay as they are.", largest)
	}
}

// tolerance returns one tolerance for all workloads: the strictest of them.
func (w *workloadSet) tolerance(f *taskFolder) tolerance {
	t := tolerance{ATol: 1e-2, RTol: 1e-2, Matched: 0.99, Infinite: "never"}
	if w.isFlashInfer {
		t.Matched, t.Infinite = 1, "equal"
	}
	usual := t
	differ := false
	for i, one := range w.workloads {
		own := usual
		if g := one.Tolerance; g != nil {
			own.ATol, own.RTol = valueOrDefault(g.ATol, own.ATol), valueOrDefault(g.RTol, own.RTol)
			own.Matched = valueOrDefault(g.Matched, own.Matched)
			if own.MaxError = g.MaxError; g.Negative {
				own.Infinite = "negative"
			}
		}
		if i == 0 {
			t = own
			continue
		}
		differ = differ || own.ATol != t.ATol || own.RTol != t.RTol || own.Matched != t.Matched ||
			valueOrDefault(own.MaxError, 0) != valueOrDefault(t.MaxError, 0)
		t.ATol, t.RTol, t.Matched = min(t.ATol, own.ATol), min(t.RTol, own.RTol), max(t.Matched, own.Matched)
		if own.MaxError != nil && (t.MaxError == nil || *own.MaxError < *t.MaxError) {
			t.MaxError = own.MaxError
		}
	}
	if differ {
		f.addNote("The tolerances of its workloads differ: the strictest is used for all.")
	}
	return t
}

// valueOrDefault returns *value; if value is nil, it returns the argument otherwise.
func valueOrDefault(value *float64, otherwise float64) float64 {
	if value == nil {
		return otherwise
	}
	return *value
}

func nameWithoutSuffix(name string) string {
	return strings.TrimSuffix(path.Base(name), path.Ext(name))
}

// omissionError is the reason why a workload is omitted: one of its stored inputs is missing or too large.
type omissionError string

func (l omissionError) Error() string { return string(l) }

// readStoredInput reads an input from a safetensors file.
func (r *problemReader) readStoredInput(
	from inputSource, of tensor, size func(string) (int, bool), beside string,
) (storedTensor, error) {
	data, name, err := r.findFile(from.Path, path.Dir(beside))
	if err != nil {
		return storedTensor{}, omissionError(err.Error())
	}
	// A file counts once for each workload that reads it: many workloads may use one large file.
	if r.bytesRead += len(data); r.bytesRead > maxReadBytes {
		return storedTensor{}, omissionError(fmt.Sprintf("is not read: the files before it have %s",
			parse.SizeText(maxReadBytes)))
	}
	raw, shape, err := readTensor(data, from.Key, of.DType)
	if err != nil {
		return storedTensor{}, fmt.Errorf("is in %s, which %w", name, err)
	}
	if len(shape) != len(of.Shape) {
		return storedTensor{}, fmt.Errorf("has the shape %v in %s, and the definition gives it %d dimensions",
			shape, name, len(of.Shape))
	}
	for i, axis := range of.Shape {
		if want, known := size(axis); known && want != shape[i] {
			return storedTensor{}, fmt.Errorf("has the shape %v in %s, and %s is %d", shape, name, axis, want)
		}
	}
	packed := base64.StdEncoding.EncodeToString(compressData(raw))
	if len(packed) > maxStoredBytes {
		size := parse.SizeText(int64(len(packed)))
		return storedTensor{}, omissionError(fmt.Sprintf("takes %s, and a task holds %s", size,
			parse.SizeText(maxStoredBytes)))
	}
	return storedTensor{DType: of.DType, Shape: shape, Data: packed}, nil
}

// findFile reads the file that a workload names, and also returns its path in the upload. It looks for name in dir, the
// folder of the workload, then in each parent. If there is no such file, it removes the first folder from name and
// looks again, because an upload may lack the outer folders of a data set: "set/blobs/x" may be uploaded as "blobs/x".
func (r *problemReader) findFile(name, dir string) ([]byte, string, error) {
	var err error
	if len(name) > 1000 {
		return nil, "", errors.New("names a file by more than 1000 characters")
	}
	for parts := strings.Split(path.Clean("/" + name)[1:], "/"); len(parts) > 0; parts = parts[1:] {
		for above := dir; ; above = path.Dir(above) {
			at := path.Join(above, path.Join(parts...))
			data, wrong := r.tree.Read(at)
			if wrong == nil {
				return data, at, nil
			}
			if !isMissingFile(wrong) {
				err = fmt.Errorf("names a file that cannot be read: %w", wrong)
			}
			if above == "." {
				break
			}
		}
	}
	if err == nil {
		err = fmt.Errorf("names the file %s, which is not in the upload", name)
	}
	return nil, "", err
}
