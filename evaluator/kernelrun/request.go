package kernelrun

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"warpboard/internal/requirement"
	"warpboard/tasks"
)

// EvaluationKind is the kind of an evaluation.
type EvaluationKind string

// Kinds of evaluations.
const (
	KindEvaluate EvaluationKind = "evaluate" // one kernel
	KindCompare  EvaluationKind = "compare"  // a kernel against a reference
	KindCompile  EvaluationKind = "compile"  // one kernel is compiled, and does not run
)

// Request is a parsed and valid evaluation request. Workers with the same job.MessageVersion receive it as JSON. The
// site fills in defaults, so that they do not depend on the worker.
type Request struct {
	Kind          EvaluationKind `json:"kind"`
	RefKernel     *KernelCode    `json:"ref,omitempty"` // only with KindCompare
	CustomKernel  KernelCode     `json:"custom"`
	NumTrials     int64          `json:"num_trials"`
	Timeout       int64          `json:"timeout"` // seconds
	ATol          float64        `json:"atol"`
	RTol          float64        `json:"rtol"`
	FlushL2       bool           `json:"l2_flush"`
	DeviceMetrics bool           `json:"collect_device_metrics"`
	NCUSections   []string       `json:"ncu_sections,omitempty"`
	GPUType       string         `json:"gpu_type,omitempty"`     // as requested; empty for any
	IsShared      bool           `json:"shared,omitempty"`       // anyone with the evaluation's ID may read it
	ReuseResult   bool           `json:"reuse_result,omitempty"` // accept the result of an equal request
	// ReuseReference allows measurements of the same reference that an earlier evaluation made.
	ReuseReference bool `json:"reuse_reference,omitempty"`
	// StopWhen ends the timed calls before NumTrials; nil means never.
	StopWhen *StopWhen `json:"stop_when,omitempty"`
	// Cases has, for each case, arguments of get_inputs by name, or values of scalars and shapes of tensors in the
	// contracts; nil means one case without changes.
	Cases []Case `json:"cases,omitempty"`
	// MinMatchedShare is the share of the elements of each output that must be within the tolerance. 0, in requests of
	// older versions, means all.
	MinMatchedShare float64  `json:"required_matched_ratio,omitempty"`
	MaxError        *float64 `json:"max_error,omitempty"`
	EqualNaN        bool     `json:"equal_nan,omitempty"`
	InfiniteRule    string   `json:"infinite,omitempty"` // one of tasks.InfiniteRuleNames
	// UsesDefaultTolerance means that the request sets neither ATol nor RTol. Types with few bits then have larger
	// tolerances.
	UsesDefaultTolerance bool `json:"fitting,omitempty"`
	// Tolerances applies to single outputs, by name or number.
	Tolerances map[string]tasks.Tolerance `json:"tolerances,omitempty"`
	// Baselines lists additional kernels that the custom kernel is compared with.
	Baselines []string `json:"baselines,omitempty"`
	// CallSetup makes the harness call setup(meta) in the custom kernel's file before it generates the inputs.
	CallSetup bool `json:"setup,omitempty"`
	// RequiredPackages lists the Python packages that a worker must have.
	RequiredPackages requirement.List `json:"require,omitempty"`
	// Remarks has sentences about the request for the response.
	Remarks []string `json:"remarks,omitempty"`
	// TaskName is the name of the task whose submission is compiled, and VersionID the ID of its version. The source is
	// then a packed submission.
	TaskName  string `json:"task,omitempty"`
	VersionID int64  `json:"version_id,omitempty"`
}

// Case is one case of a request, by the names of arguments.
type Case map[string]json.RawMessage

// maxCases limits the cases of a request, because the inputs of all are in memory at the same time.
const maxCases = 8

// jsonTypeOf returns the JSON type of a case's value.
func (c Case) jsonTypeOf(name string) string {
	switch value := c[name]; value[0] {
	case '"':
		return "a text"
	case '[':
		return "a list"
	case '{':
		return "an object"
	case 't', 'f':
		return "a boolean"
	case 'n':
		return "null"
	}
	return "a number"
}

// checkCases returns a sentence about cases that cannot be timed together, or "".
func (r Request) checkCases() string {
	switch {
	case r.Cases == nil:
		return ""
	case len(r.Cases) < 1 || len(r.Cases) > maxCases:
		return fmt.Sprintf("cases must have 1 to %d entries", maxCases)
	case r.ReuseReference:
		return "cases cannot be combined with reuse_reference"
	case r.DeviceMetrics:
		return "cases cannot be combined with collect_device_metrics: send the case that is to be profiled alone"
	}
	names := slices.Sorted(maps.Keys(r.Cases[0]))
	for i, c := range r.Cases {
		if !slices.Equal(names, slices.Sorted(maps.Keys(c))) {
			return fmt.Sprintf("case %d of cases has other names than the first", i+1)
		}
		for _, name := range names {
			if first, here := r.Cases[0].jsonTypeOf(name), c.jsonTypeOf(name); first != here {
				return fmt.Sprintf("%s is %s in case %d of cases, and %s in the first", name, here, i+1, first)
			}
		}
	}
	return ""
}

// Baselines of a comparison.
const (
	BaselineEager   = "eager"         // the reference as it is
	BaselineCompile = "torch.compile" // the reference, compiled by PyTorch
)

// checkExtras returns a sentence about baselines or a setup that the request cannot have, or "".
func (r Request) checkExtras() string {
	isTorch := []string{"torch", "torch_cuda", "multi_kernel"}
	switch {
	case r.Baselines != nil && r.RefKernel.KernelType != "torch":
		return fmt.Sprintf("baselines need a reference of type torch, and this one is of type %s",
			r.RefKernel.KernelType)
	case r.Baselines != nil && r.ReuseReference:
		return "baselines cannot be combined with reuse_reference: they run beside the kernel"
	case len(slices.Compact(slices.Sorted(slices.Values(r.Baselines)))) < len(r.Baselines):
		return "baselines names one of them twice"
	case r.CallSetup && !slices.Contains(isTorch, r.CustomKernel.KernelType):
		return fmt.Sprintf("setup is for kernels of the types torch, torch_cuda, and multi_kernel, and this one is of type %s", r.CustomKernel.KernelType)
	case r.CallSetup && r.ReuseReference:
		return "setup cannot be combined with reuse_reference"
	}
	return ""
}

// StopWhen is the condition that ends the timed calls early. Each of its parts is sufficient.
type StopWhen struct {
	HalfWidth    *float64 `json:"half_width,omitempty"` // relative half-width of the interval
	SpeedupAbove *float64 `json:"speedup_above,omitempty"`
	SpeedupBelow *float64 `json:"speedup_below,omitempty"`
	Confidence   float64  `json:"confidence"`
}

// check returns a sentence about a condition that cannot be reached, or could be reached by chance, or "".
func (s StopWhen) check(hasRef bool) string {
	outside := func(v *float64, least, most float64) bool { return v != nil && !(*v >= least && *v <= most) }
	switch {
	case s.HalfWidth == nil && s.SpeedupAbove == nil && s.SpeedupBelow == nil:
		return "stop_when needs one of half_width, speedup_above, and speedup_below"
	case !hasRef && (s.SpeedupAbove != nil || s.SpeedupBelow != nil):
		return "speedup_above and speedup_below need a reference: send the kernel to /compare"
	case outside(s.HalfWidth, 0.001, 0.5):
		return "half_width must be between 0.001 and 0.5"
	case outside(s.SpeedupAbove, 0.001, 1000), outside(s.SpeedupBelow, 0.001, 1000):
		return "speedup_above and speedup_below must be between 0.001 and 1000"
	case !(s.Confidence >= 0.5 && s.Confidence <= 0.999):
		return "confidence must be between 0.5 and 0.999"
	}
	return ""
}

// KernelCode is the code of one kernel.
type KernelCode struct {
	Source string `json:"source_code"`
	// Files has the additional files, by name.
	Files      map[string]string `json:"source_files,omitempty"`
	KernelType string            `json:"kernel_type"`
	IOContract map[string]any    `json:"io"`
	// TorchCompile means that the kernel is compiled with torch.compile, for a baseline.
	TorchCompile bool           `json:"torch_compile,omitempty"`
	Metadata     map[string]any `json:"metadata"`
}

// JoinedText returns the joined texts of all files, for searches.
func (c KernelCode) JoinedText() string {
	text := c.Source
	for _, name := range slices.Sorted(maps.Keys(c.Files)) {
		text += "\n" + c.Files[name]
	}
	return text
}

// UnmarshalJSON keeps numbers as text, because integers above 53 bits would change as floating-point numbers.
func (c *KernelCode) UnmarshalJSON(data []byte) error {
	type plain KernelCode
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	return decoder.Decode((*plain)(c))
}

// ReadRequest parses the body of a request that was decoded with UseNumber. Problems are in the order of the fields.
// Without problems the request can be passed to Check.
func ReadRequest(kind EvaluationKind, body map[string]any, refused UnknownKeyPolicy) (Request, []Problem) {
	m := evaluateRequestModel()
	switch kind {
	case KindCompare:
		m, body = compareRequestModel(), upgradeLegacyBody(body)
	case KindCompile:
		m = compileRequestModel()
	}
	read, problems := m.read(nil, body)
	var remarks []string
	if len(problems) == 0 { // in a body for another endpoint, all keys would be unknown
		s := keySearch{policy: refused, remainingComparisons: maxKeyComparisons}
		problems = s.unknownKeyProblems(m, nil, body)
		remarks = s.remarks()
	}
	if len(problems) > 0 {
		return Request{}, problems
	}
	fields := read.(map[string]any)
	fields["kind"], fields["remarks"] = kind, remarks
	switch kind {
	case KindCompare:
		fields["ref"], fields["custom"] = fields["ref_kernel"], fields["custom_kernel"]
	case KindCompile:
		fields["custom"] = map[string]any{"source_code": fields["source_code"], "kernel_type": fields["kernel_type"]}
		delete(fields, "source_code")
	default:
		fields["custom"] = fields["kernel"]
	}
	var r Request
	// The fields are converted through JSON, so that the tables are the only list of fields. Long texts are not
	// converted, because they may have megabytes.
	texts, cases := map[string]string{}, fields["cases"]
	plain := extractLongTexts(fields, texts).(map[string]any)
	plain["cases"] = cases // unchanged, because restoreLongTexts does not process cases
	data, err := json.Marshal(plain)
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	for _, code := range []*KernelCode{&r.CustomKernel, r.RefKernel} {
		if code != nil {
			code.Source = cmp.Or(texts[code.Source], code.Source)
			for name, text := range code.Files {
				code.Files[name] = cmp.Or(texts[text], text)
			}
			restoreLongTexts(code.IOContract, texts)
			restoreLongTexts(code.Metadata, texts)
		}
	}
	if err != nil { // NumTrials does not fit into 64 bits
		return r, keyPath{"num_trials"}.newProblem("int_parsing_size", "Unable to parse input string as an integer, exceeded maximum size")
	}
	return r, nil
}

// minLongText is the minimum length of the texts that placeholders replace, in bytes.
const minLongText = 4 << 10

// extractLongTexts copies a value with placeholders for its long texts, and adds these to texts.
func extractLongTexts(value any, texts map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			v[key] = extractLongTexts(v[key], texts)
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = extractLongTexts(v[i], texts)
		}
		return v
	case string:
		if len(v) > minLongText {
			placeholder := rand.Text() // random, so that no request can contain it
			texts[placeholder] = v
			return placeholder
		}
	}
	return value
}

// restoreLongTexts replaces the placeholders in a value.
func restoreLongTexts(value any, texts map[string]string) any {
	switch v := value.(type) {
	case map[string]any:
		for key := range v {
			v[key] = restoreLongTexts(v[key], texts)
		}
	case []any:
		for i := range v {
			v[i] = restoreLongTexts(v[i], texts)
		}
	case string:
		return cmp.Or(texts[v], v)
	}
	return value
}

// upgradeLegacyBody converts a body of the legacy format, which has only the two sources, to the current one.
func upgradeLegacyBody(body map[string]any) map[string]any {
	ref, custom := body["ref_code"], body["custom_code"]
	if ref == nil || custom == nil {
		return body
	}
	out := maps.Clone(body)
	for _, name := range []string{"atol", "rtol", "ref_code", "custom_code"} {
		delete(out, name)
	}
	out["ref_kernel"] = map[string]any{"source_code": ref, "kernel_type": "torch"}
	out["custom_kernel"] = map[string]any{"source_code": custom, "kernel_type": "torch_cuda"}
	if _, given := out["timeout"]; !given {
		out["timeout"] = json.Number(fmt.Sprint(defaultLegacyTimeout))
	}
	return out
}

// RequestLimits has the largest values that a site accepts.
type RequestLimits struct {
	Trials  int64
	Timeout int64 // seconds
}

// DefaultLimits returns the default bounds of the API.
func DefaultLimits() RequestLimits { return RequestLimits{Trials: 10000, Timeout: 600} }

// minTimeout is the minimum time limit of a request, in seconds. Importing torch alone may take seconds.
const minTimeout = 5

// Refusal is the error for a request with valid fields that are not allowed.
type Refusal struct {
	Message string
	Details map[string]any
}

func (r *Refusal) Error() string { return r.Message }

// Check returns a *Refusal if the request is not allowed. Of missing parts it checks only Triton's contract; others
// fail when compiling.
func (r Request) Check(max RequestLimits) error {
	refuse := func(name string, value any, format string, args ...any) error {
		return &Refusal{Message: fmt.Sprintf(format, args...), Details: map[string]any{name: value}}
	}
	switch {
	case r.Kind == KindCompile && r.Timeout >= minTimeout && r.Timeout <= max.Timeout:
		return r.checkCompiled()
	case r.NumTrials < 1 && r.Kind != KindCompile:
		return refuse("num_trials", r.NumTrials, "num_trials must be at least 1")
	case r.NumTrials > max.Trials:
		return refuse("num_trials", r.NumTrials, "num_trials cannot exceed %d", max.Trials)
	case r.Timeout < minTimeout:
		return refuse("timeout", r.Timeout, "timeout must be at least %d seconds", minTimeout)
	case r.Timeout > max.Timeout:
		return refuse("timeout", r.Timeout, "timeout cannot exceed %d seconds", max.Timeout)
	}
	if why := tasks.CheckToleranceValue("matched", r.MinMatchedShare); r.RefKernel != nil && why != "" {
		return refuse("required_matched_ratio", r.MinMatchedShare, "required_matched_ratio %s", why)
	}
	if r.ReuseResult && r.DeviceMetrics {
		return refuse("reuse_result", true, "reuse_result cannot be combined with collect_device_metrics: reports are not shared")
	}
	if r.ReuseReference && r.DeviceMetrics {
		return refuse("reuse_reference", true, "reuse_reference cannot be combined with collect_device_metrics: those need a run of the reference")
	}
	if r.ReuseReference && (r.Tolerances != nil || r.MaxError != nil || r.EqualNaN || r.InfiniteRule == "never" || r.InfiniteRule == "negative") {
		return refuse("reuse_reference", true, "reuse_reference cannot be combined with tolerances, max_error, equal_nan, or infinite: only a sample of a kept answer is compared in timed calls")
	}
	if why := r.checkCases(); why != "" {
		return &Refusal{Message: why, Details: map[string]any{"cases": len(r.Cases)}}
	}
	if why := r.checkExtras(); why != "" {
		return &Refusal{Message: why, Details: map[string]any{"baselines": r.Baselines, "setup": r.CallSetup}}
	}
	if r.StopWhen != nil {
		if why := r.StopWhen.check(r.RefKernel != nil); why != "" {
			return &Refusal{Message: why, Details: map[string]any{"stop_when": r.StopWhen}}
		}
	}
	if r.RefKernel != nil {
		if err := r.RefKernel.check("ref_kernel"); err != nil {
			return err
		}
		return r.CustomKernel.check("custom_kernel")
	}
	return r.CustomKernel.check("")
}

func (c KernelCode) check(name string) error {
	if c.KernelType != "triton" || c.IOContract != nil {
		return nil
	}
	details := map[string]any{"kernel_type": c.KernelType}
	if name != "" {
		details["kernel"] = name
	}
	return &Refusal{Message: "Triton kernels require io_contract to be specified", Details: details}
}
