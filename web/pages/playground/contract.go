package playground

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"warpboard/evaluator/kernelrun"
	"warpboard/views"
)

// argumentsContract returns the arguments of the kernels: the form's JSON field if it is filled, otherwise its rows. It
// returns nil if both are empty.
func (f *playgroundForm) argumentsContract() any {
	if f.trimmedField("contract") != "" {
		return f.parseJSONField("contract")
	}
	return f.contractFromRows()
}

func (f *playgroundForm) contractFromRows() any {
	args := []any{}
	f.argumentRows = nil
	for row := range f.rowCount {
		if arg := f.argument(row); arg != nil {
			args, f.argumentRows = append(args, arg), append(f.argumentRows, row)
		}
	}
	launch := f.launchConfiguration()
	switch {
	case len(launch) > 0:
		return map[string]any{"args": args, "launch": launch}
	case len(args) > 0:
		return map[string]any{"args": args}
	}
	return nil
}

// argument reads the row of one argument; nil if it is empty.
func (f *playgroundForm) argument(row int) map[string]any {
	get := func(name string) string { return f.trimmedField(views.ArgumentField(row, name)) }
	if get("name")+get("shape")+get("value") == "" {
		return nil
	}
	arg := addNonEmptyPairs(map[string]any{}, "type", get("type"), "role", get("role"))
	if get("name") == "" {
		f.problems[views.ArgumentField(row, "name")] = "Name this argument, or empty its row."
	}
	arg["name"] = get("name")
	if get("meta") == "true" {
		arg["is_meta"] = true
	}
	if get("type") == "tensor" {
		arg["tensor_spec"] = tensorArgument(get)
		return arg
	}
	value, problem := parseScalar(get("type"), get("value"))
	if problem != "" {
		f.problems[views.ArgumentField(row, "value")] = problem
	}
	arg["value"] = value
	return arg
}

// addNonEmptyPairs adds pairs of keys and values to a map. It skips empty values, for which the API has defaults.
func addNonEmptyPairs(to map[string]any, pairs ...string) map[string]any {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			to[pairs[i]] = pairs[i+1]
		}
	}
	return to
}

func tensorArgument(get func(string) string) map[string]any {
	shape := []any{}
	for _, extent := range strings.FieldsFunc(get("shape"), func(r rune) bool { return strings.ContainsRune(", x×[]()", r) }) {
		shape = append(shape, extent)
	}
	spec := addNonEmptyPairs(map[string]any{"shape": shape}, "dtype", get("dtype"))
	if get("init") == "nothing" {
		return spec
	}
	init := addNonEmptyPairs(map[string]any{}, "kind", get("init"))
	for i, name := range initParameterNames[get("init")] {
		if number := get([]string{"first", "second"}[i]); number != "" {
			init[name] = number
		}
	}
	// for other values of init the form hides the seed
	if seed := get("seed"); seed != "" && slices.Contains([]string{"randn", "uniform"}, get("init")) {
		init["seed"] = seed
	}
	spec["init"] = init
	return spec
}

// parseScalar parses a scalar of a kind. If text is invalid, problem describes the error.
func parseScalar(kind, text string) (value any, problem string) {
	switch kind {
	case "int":
		if n, err := strconv.ParseInt(text, 0, 64); err == nil {
			return json.Number(strconv.FormatInt(n, 10)), ""
		}
		return nil, "Write a whole number."
	case "float":
		if f, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(f) && !math.IsInf(f, 0) {
			return json.Number(strconv.FormatFloat(f, 'g', -1, 64)), ""
		}
		return nil, "Write a number."
	case "bool":
		if yes, err := strconv.ParseBool(strings.ToLower(text)); err == nil {
			return yes, ""
		}
		return nil, "Write true or false."
	}
	return text, ""
}

// launchConfiguration returns the launch configuration. It is empty for kernels that launch themselves; their form
// hides these fields, which may contain values of another kernel.
func (f *playgroundForm) launchConfiguration() map[string]any {
	launch := map[string]any{}
	if kind := f.trimmedField("kernel_type"); kind != "triton" && kind != "cuda" {
		return launch
	}
	for _, size := range []string{"grid", "block"} {
		sizes := map[string]any{}
		for _, axis := range []string{"x", "y", "z"} {
			if value := f.trimmedField("launch-" + size + "-" + axis); value != "" {
				sizes[axis] = value
			}
		}
		if len(sizes) > 0 {
			launch[size] = sizes
		}
	}
	for _, name := range []string{"num_warps", "num_stages", "shared_mem"} {
		if value := f.trimmedField("launch-" + name); value != "" {
			launch[name] = value
		}
	}
	return launch
}

// writeContract writes the arguments of the rows into the JSON field. Valid values get the API's types; others stay
// strings.
func (f *playgroundForm) writeContract() {
	io := f.contractFromRows()
	if io == nil {
		f.problems["contract"] = "There is no argument and no launch size to write."
		return
	}
	body := map[string]any{"kernel": map[string]any{"source_code": "", "kernel_type": "torch", "io": io}}
	if read, problems := kernelrun.ReadRequest(kernelrun.KindEvaluate, body, kernelrun.RefuseAll); len(problems) == 0 {
		io = withoutNulls(read.CustomKernel.IOContract)
	}
	f.fields["contract"] = prettyJSON(io)
}

// fillFrom fills the form from a request, with its contracts as JSON.
func (f *playgroundForm) fillFrom(r kernelrun.Request) {
	f.fillKernelCode("kernel", r.CustomKernel)
	if r.CustomKernel.IOContract != nil {
		f.fields["contract"] = prettyJSON(withoutNulls(r.CustomKernel.IOContract))
	}
	if r.RefKernel != nil {
		f.fillKernelCode("reference", *r.RefKernel)
		if other := prettyJSON(withoutNulls(r.RefKernel.IOContract)); other != prettyJSON(withoutNulls(r.CustomKernel.IOContract)) {
			f.fields["reference_contract"] = other
		}
		f.fields["atol"], f.fields["rtol"] = decimalText(r.ATol), decimalText(r.RTol)
	}
	f.fields["num_trials"], f.fields["timeout"] = strconv.FormatInt(r.NumTrials, 10), strconv.FormatInt(r.Timeout, 10)
	f.fields["l2_flush"], f.fields["collect_device_metrics"] = strconv.FormatBool(r.FlushL2), strconv.FormatBool(r.DeviceMetrics)
	f.fields["gpu_type"] = r.GPUType
	var lost []string
	for _, part := range []struct {
		name  string
		there bool
	}{
		{"cases", r.Cases != nil}, {"stop_when", r.StopWhen != nil}, {"setup", r.CallSetup}, {"require", r.RequiredPackages != nil}, {"baselines", r.Baselines != nil},
		{"source_files", r.CustomKernel.Files != nil || r.RefKernel != nil && r.RefKernel.Files != nil},
		{"tolerances", r.Tolerances != nil || r.MinMatchedShare > 0 && r.MinMatchedShare < 1 || r.MaxError != nil || r.EqualNaN || r.InfiniteRule != ""},
	} {
		if part.there {
			lost = append(lost, part.name)
		}
	}
	if len(lost) > 0 {
		f.problems[""] = "The form has no fields for " + strings.Join(lost, ", ") +
			" of the evaluation, so they are left out. Its page has the whole request as JSON."
	}
}

func (f *playgroundForm) fillKernelCode(field string, code kernelrun.KernelCode) {
	f.fields[field], f.fields[field+"_type"] = code.Source, code.KernelType
	metadata, _ := withoutNulls(code.Metadata).(map[string]any) // ok is always true, because Metadata is a map
	key := kernelNameKeys[code.KernelType]
	if name, ok := metadata[key].(string); ok {
		f.fields[field+"_name"] = name
		delete(metadata, key)
	}
	if len(metadata) > 0 {
		f.fields[field+"_metadata"] = prettyJSON(metadata)
	}
}

// withoutNulls copies a JSON value without keys that have null.
func withoutNulls(value any) any {
	switch v := value.(type) {
	case map[string]any:
		if v == nil {
			return nil
		}
		kept := map[string]any{}
		for key, inner := range v {
			if inner != nil {
				kept[key] = withoutNulls(inner)
			}
		}
		return kept
	case []any:
		kept := make([]any, len(v))
		for i, inner := range v {
			kept[i] = withoutNulls(inner)
		}
		return kept
	}
	return value
}

func decimalText(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// prettyJSON formats a JSON value with indentation.
func prettyJSON(value any) string {
	text, _ := json.Marshal(value) // cannot fail, because value was decoded from JSON
	return indentJSON(text)
}

func indentJSON(text []byte) string {
	var out bytes.Buffer
	if json.Indent(&out, text, "", "  ") != nil {
		return string(text)
	}
	return out.String()
}
