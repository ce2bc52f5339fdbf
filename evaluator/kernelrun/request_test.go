package kernelrun

import (
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"warpboard/e2e/fuzztest"
)

func decode(t testing.TB, text string) map[string]any {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var out map[string]any
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, kind EvaluationKind, text string) Request {
	t.Helper()
	r, problems := ReadRequest(kind, decode(t, text), RefuseMistyped)
	if len(problems) > 0 {
		t.Fatalf("%s: %+v", text, problems)
	}
	return r
}

func TestDefaults(t *testing.T) {
	got := read(
		t,
		KindCompare,
		`{"ref_kernel":{"source_code":"r","kernel_type":"torch"},"custom_kernel":{"source_code":"c","kernel_type":"cuda"},"index":3}`,
	)
	want := Request{
		Kind:      KindCompare,
		RefKernel: &KernelCode{Source: "r", KernelType: "torch"},
		CustomKernel: KernelCode{
			Source:     "c",
			KernelType: "cuda",
		},
		NumTrials:            100,
		Timeout:              120,
		ATol:                 0.01,
		RTol:                 0.01,
		FlushL2:              true,
		MinMatchedShare:      1,
		UsesDefaultTolerance: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// TestReadRequestCopiesNoLongText checks the memory that ReadRequest allocates: sources and tensors of a request may
// have megabytes.
func TestReadRequestCopiesNoLongText(t *testing.T) {
	long := strings.Repeat("QUJD", 1<<20)
	body := decode(t, `{"kernel":{"source_code":"`+long+`","kernel_type":"torch","io":{"args":[
		{"name":"x","type":"tensor","role":"input","tensor_spec":{"shape":[2],"dtype":"float32","data":{"data_b64":"`+long+`","dtype":"float32","shape":[2]}}}]}}}`)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	r, problems := ReadRequest(KindEvaluate, body, RefuseMistyped)
	runtime.ReadMemStats(&after)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 1<<20 {
		t.Errorf("reading a request of %d MiB takes %d bytes more", 2*len(long)>>20, grown)
	}
	if text := fmt.Sprint(r.CustomKernel.IOContract); r.CustomKernel.Source != long || !strings.Contains(text, long) {
		t.Error("the texts of the request are not its own")
	}
}

func TestTheLegacyFormatIsTorchAgainstTorchCUDA(t *testing.T) {
	got := read(t, KindCompare, `{"ref_code":"r","custom_code":"c","atol":5,"num_trials":7}`)
	want := Request{
		Kind:      KindCompare,
		RefKernel: &KernelCode{Source: "r", KernelType: "torch"},
		CustomKernel: KernelCode{
			Source:     "c",
			KernelType: "torch_cuda",
		},
		NumTrials:            7,
		Timeout:              30,
		ATol:                 0.01,
		RTol:                 0.01,
		FlushL2:              true,
		MinMatchedShare:      1,
		UsesDefaultTolerance: true,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNumbersAreReadLaxly(t *testing.T) {
	for text, want := range map[string]int64{`12`: 12, `"12"`: 12, `12.0`: 12, `" 1_000 "`: 1000, `1e2`: 100, `true`: 1, `"-3"`: -3} {
		if got := read(t, KindEvaluate, `{"kernel":{"source_code":"","kernel_type":"torch"},"num_trials":`+text+`}`); got.NumTrials != want {
			t.Errorf("%s is read as %d, want %d", text, got.NumTrials, want)
		}
	}
	for _, text := range []string{`12.5`, `"12.5"`, `null`, `"0x10"`, `[]`, `1e400`, `99999999999999999999`, `"inf"`} {
		if r, problems := ReadRequest(KindEvaluate, decode(t, `{"kernel":{"source_code":"","kernel_type":"torch"},"num_trials":`+text+`}`), RefuseAll); len(
			problems,
		) == 0 {
			t.Errorf("%s is read as %d", text, r.NumTrials)
		}
	}
}

func TestAContractKeepsItsValuesAndGetsItsDefaults(t *testing.T) {
	r := read(t, KindEvaluate, `{"kernel":{"source_code":"","kernel_type":"triton","metadata":{"any":[1]},"io":{"args":[
		{"name":"x","type":"tensor","tensor_spec":{"shape":["4",2.0],"init":{"seed":18446744073709551615,"std":2}}},
		{"name":"n","type":"int","value":3},{"name":"s","type":"str","value":"t"},{"name":"a","type":"float","value":2.5,"role":"input","is_meta":"yes"}],
		"launch":{"grid":{"x":"cdiv(n, 4)"},"num_warps":4}}},"unknown":1}`)
	text, err := json.Marshal(r.CustomKernel.IOContract)
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Args []struct {
			Value  any
			Role   string
			IsMeta bool `json:"is_meta"`
			Spec   *struct {
				Shape []int
				DType string
				Init  map[string]json.RawMessage
			} `json:"tensor_spec"`
		}
		Launch struct {
			Grid     map[string]any
			NumWarps int `json:"num_warps"`
		}
	}
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	spec := got.Args[0].Spec
	if spec.DType != "float32" || !cmp.Equal(spec.Shape, []int{4, 2}) || string(spec.Init["kind"]) != `"randn"` ||
		string(spec.Init["mean"]) != "null" ||
		got.Args[0].Role != "input" {
		t.Errorf("tensor: %s", text)
	}
	if !strings.HasPrefix(string(spec.Init["seed"]), "1844674407370955") {
		t.Errorf("a large seed became %s", spec.Init["seed"])
	}
	if got.Args[1].Value != 3.0 || got.Args[2].Value != "t" || got.Args[3].Value != 2.5 || !got.Args[3].IsMeta {
		t.Errorf("scalars: %s", text)
	}
	if diff := cmp.Diff(map[string]any{"x": "cdiv(n, 4)", "y": 1.0, "z": 1.0}, got.Launch.Grid); diff != "" ||
		got.Launch.NumWarps != 4 {
		t.Errorf("launch: %s", text)
	}
}

// FuzzReadRequest checks that ReadRequest fails only by returning problems, and that each parsed request can be sent to
// a worker as JSON, and either passes Check or is refused with details.
func FuzzReadRequest(f *testing.F) {
	fuzztest.Moment(f)
	f.Add(
		`{"kernel":{"source_code":"x","kernel_type":"torch","io":{"args":[{"name":"a","type":"int","value":1.5}]}},"num_trials":"1e3"}`,
	)
	f.Add(
		`{"kernel":{"source_code":"x","kernel_type":"cuda","metadata":[],"io":{"args":[{}],"launch":{"grid":{"x":"n"}}}},"timeout":1e999}`,
	)
	f.Fuzz(func(t *testing.T, text string) {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var body map[string]any
		if decoder.Decode(&body) != nil {
			return
		}
		for _, kind := range []EvaluationKind{KindEvaluate, KindCompare} {
			r, problems := ReadRequest(kind, body, RefuseAll)
			for _, p := range problems {
				if p.Message == "" || p.Type == "" {
					t.Errorf("a problem without words: %+v", p)
				}
			}
			if len(problems) > 0 {
				continue
			}
			if _, err := json.Marshal(r); err != nil {
				t.Errorf("a request that was read cannot be sent: %v", err)
			}
			if err := r.Check(DefaultLimits()); err != nil && !errors.As(err, new(*Refusal)) {
				t.Errorf("refused by %v", err)
			}
		}
	})
}

func TestEverySchemaThatIsReferredToIsThere(t *testing.T) {
	schemas := JSONSchemas()
	text, err := json.Marshal(schemas)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(text), `"$ref":"`+schemaRefPrefix)[1:] {
		name, _, _ := strings.Cut(part, `"`)
		if schemas[name] == nil {
			t.Errorf("%s is not described", name)
		}
	}
	if len(schemas) != 13 {
		t.Errorf("%d objects are described", len(schemas))
	}
}

func TestAnUnknownKeyIsRefusedWithTheOneThatWasMeant(t *testing.T) {
	const kernel = `"kernel":{"source_code":"","kernel_type":"torch","io":{"args":[{"name":"x","type":"tensor","tensor_spec":{%s"shape":[1]}}],"launch":{%s"num_warps":4}}}`
	for name, test := range map[string]struct {
		top, tensor, launch string
		mistyped, all       []Problem
	}{
		"mistyped":        {top: `,"num_trails":3`, mistyped: refusedKey("num_trails", `did you mean "num_trials"?`)},
		"part of a name":  {top: `,"trials":3`, mistyped: refusedKey("trials", `did you mean "num_trials"?`)},
		"with a unit":     {top: `,"timeout_s":3`, mistyped: refusedKey("timeout_s", `did you mean "timeout"?`)},
		"in a tensor":     {tensor: `"dytpe":"int8",`, mistyped: refusedKey("kernel -> io -> args -> 0 -> tensor_spec -> dytpe", `did you mean "dtype"?`)},
		"in the launch":   {launch: `"num_wraps":8,`, mistyped: refusedKey("kernel -> io -> launch -> num_wraps", `did you mean "num_warps"?`)},
		"of foreign ones": {top: `,"index":3,"num_warmup":10,"atol":1,"rtol":1`},
		"like no other":   {tensor: `"init":{"www":1},`, all: refusedKey("kernel -> io -> args -> 0 -> tensor_spec -> init -> www", "known are kind, seed, mean, std, low, high, fill_value, start, step")},
		"a caller's own":  {tensor: `"strides":[1],`, all: refusedKey("kernel -> io -> args -> 0 -> tensor_spec -> strides", "known are shape, dtype, init, data")},
	} {
		body := "{" + fmt.Sprintf(kernel, test.tensor, test.launch) + test.top + "}"
		_, mistyped := ReadRequest(KindEvaluate, decode(t, body), RefuseMistyped)
		_, all := ReadRequest(KindEvaluate, decode(t, body), RefuseAll)
		if diff := cmp.Diff(test.mistyped, mistyped); diff != "" {
			t.Errorf("%s, mistyped ones refused:\n%s", name, diff)
		}
		if diff := cmp.Diff(append(test.mistyped, test.all...), all); diff != "" {
			t.Errorf("%s, all refused:\n%s", name, diff)
		}
	}
}

func refusedKey(field, hint string) []Problem {
	return []Problem{{Field: field, Message: "Extra inputs are not permitted", Type: "extra_forbidden", Hint: hint}}
}

// namedCode is a request whose kernel is named in its launch configuration.
const namedCode = `{"kernel":{"source_code":"","kernel_type":%q,"metadata":%s,"io":{"args":[],"launch":{"grid":{"x":2},"kernel_name":"b"}}}}`

func TestAKernelNamedInItsLaunchIsTheOneNamedInItsMetadata(t *testing.T) {
	for metadata, want := range map[string]map[string]any{
		`null`: {"kernel_name": "b"}, `{"kernel_name":"b"}`: {"kernel_name": "b"}, `{"kernel_name":null,"x":"y"}`: {"kernel_name": "b", "x": "y"},
	} {
		for _, kind := range []string{"cuda", "triton"} {
			got := read(t, KindEvaluate, fmt.Sprintf(namedCode, kind, metadata)).CustomKernel
			if diff := cmp.Diff(want, got.Metadata); diff != "" {
				t.Errorf("%s, metadata %s:\n%s", kind, metadata, diff)
			}
			if name, there := got.IOContract["launch"].(map[string]any)["kernel_name"]; there {
				t.Errorf("the launch still names %v", name)
			}
		}
	}
	if got := read(t, KindEvaluate, fmt.Sprintf(namedCode, "torch", `null`)).CustomKernel; got.Metadata != nil {
		t.Errorf("a torch kernel, which has no launch, got the metadata %v", got.Metadata)
	}
}

func TestTwoNamesOfOneKernelAreRefused(t *testing.T) {
	for _, extras := range []UnknownKeyPolicy{RefuseMistyped, RefuseAll} {
		_, problems := ReadRequest(KindEvaluate, decode(t, fmt.Sprintf(namedCode, "cuda", `{"kernel_name":"a"}`)),
			extras)
		want := []Problem{{Field: "kernel -> io -> launch -> kernel_name", Type: "value_error",
			Message: "Value error, 'b' is not the kernel_name of metadata, 'a': give one of them"}}
		if diff := cmp.Diff(want, problems); diff != "" {
			t.Error(diff)
		}
	}
}

func TestComplexTensorsAreTakenWhereverAKernelCanHaveThem(t *testing.T) {
	const body = `{"kernel":{"source_code":"","kernel_type":%q,"metadata":{"entry_point":"f"},"io":{"args":[{"name":"x","type":"tensor","tensor_spec":%s}]}}}`
	for spec, field := range map[string]string{
		`{"shape":[4],"dtype":"complex64"}`: "dtype", `{"data":{"data_b64":"","dtype":"complex128","shape":[0]}}`: "data -> dtype",
	} {
		for _, kind := range []string{"torch", "torch_cuda", "cuda", "multi_kernel"} {
			read(t, KindEvaluate, fmt.Sprintf(body, kind, spec))
		}
		_, problems := ReadRequest(KindEvaluate, decode(t, fmt.Sprintf(body, "triton", spec)), RefuseMistyped)
		if len(problems) != 1 || problems[0].Field != "kernel -> io -> args -> 0 -> tensor_spec -> "+field ||
			!strings.Contains(problems[0].Message, "is known, but unsupported") {
			t.Errorf("%s: %+v", spec, problems)
		}
	}
}

func TestAKeptReferenceIsForComparisonsWithoutMetrics(t *testing.T) {
	const kernel = `{"source_code":"","kernel_type":"torch"}`
	r := read(t, KindCompare, `{"ref_kernel":`+kernel+`,"custom_kernel":`+kernel+`,"reuse_reference":true}`)
	if err := r.Check(DefaultLimits()); !r.ReuseReference || err != nil {
		t.Errorf("%+v, %v", r, err)
	}
	r.DeviceMetrics = true
	if err := r.Check(DefaultLimits()); err == nil ||
		!strings.HasPrefix(err.Error(), "reuse_reference cannot be combined with collect_device_metrics") {
		t.Errorf("with metrics: %v", err)
	}
	if _, problems := ReadRequest(KindEvaluate, decode(t, `{"kernel":`+kernel+`,"reuse_reference":true}`), RefuseAll); len(
		problems,
	) != 1 {
		t.Errorf("without a reference: %+v", problems)
	}
}

func TestStopWhenSaysWhatCannotBeReached(t *testing.T) {
	kernels := map[EvaluationKind]string{KindEvaluate: `{"kernel":{"source_code":"","kernel_type":"torch"}`,
		KindCompare: `{"ref_kernel":{"source_code":"","kernel_type":"torch"},"custom_kernel":{"source_code":"","kernel_type":"torch"}`}
	for _, tt := range []struct {
		kind EvaluationKind
		stop string
		want string // the beginning of the refusal; empty if the request is accepted
	}{
		{KindEvaluate, `{"half_width":0.01}`, ""},
		{KindEvaluate, `null`, ""},
		{KindCompare, `{"speedup_above":1.1,"speedup_below":0.9,"confidence":"0.99"}`, ""},
		{KindCompare, `{}`, "stop_when needs one of"},
		{KindEvaluate, `{"speedup_above":1.1}`, "speedup_above and speedup_below need a reference"},
		{KindCompare, `{"half_width":0}`, "half_width must be between"},
		{KindCompare, `{"half_width":0.6}`, "half_width must be between"},
		{KindCompare, `{"speedup_below":-1}`, "speedup_above and speedup_below must be between"},
		{KindCompare, `{"half_width":0.1,"confidence":1}`, "confidence must be between"},
	} {
		r := read(t, tt.kind, kernels[tt.kind]+`,"stop_when":`+tt.stop+`}`)
		err := r.Check(DefaultLimits())
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.stop, err, tt.want)
		}
		if err == nil && r.StopWhen != nil && r.StopWhen.Confidence < 0.9 {
			t.Errorf("%s: confidence %v", tt.stop, r.StopWhen.Confidence)
		}
	}
	if _, problems := ReadRequest(KindCompare, decode(t, kernels[KindCompare]+`,"stop_when":{"halfwidth":0.1}}`), RefuseAll); len(
		problems,
	) == 0 {
		t.Error("a misspelled condition is taken")
	}
}

func TestCasesThatCannotBeTimedTogetherAreRefused(t *testing.T) {
	kernel := `{"kernel":{"source_code":"","kernel_type":"torch"},"cases":`
	for _, tt := range []struct{ cases, want string }{
		{`[{"n":1024,"x":[2,3]},{"n":4096,"x":[]}]`, ""},
		{`[{}]`, ""},
		{`null`, ""},
		{`[]`, "cases must have 1 to 8 entries"},
		{`[{},{},{},{},{},{},{},{},{}]`, "cases must have 1 to 8 entries"},
		{`[{"n":1},{"m":1}]`, "case 2 of cases has other names than the first"},
		{`[{"n":1},{"n":"1"}]`, "n is a text in case 2 of cases, and a number in the first"},
		{`[{"n":1}],"collect_device_metrics":true`, "cases cannot be combined with collect_device_metrics"},
	} {
		err := read(t, KindEvaluate, kernel+tt.cases+`}`).Check(DefaultLimits())
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.cases, err, tt.want)
		}
	}
	long := `"` + strings.Repeat("x", 2*minLongText) + `"`
	if r := read(t, KindEvaluate, kernel+`[{"name":`+long+`}]}`); string(r.Cases[0]["name"]) != long {
		t.Errorf("a long text became %.40s", r.Cases[0]["name"])
	}
	if _, problems := ReadRequest(KindEvaluate, decode(t, kernel+`[1]}`), RefuseMistyped); len(problems) == 0 {
		t.Error("a case that is no object is taken")
	}
}

func TestTolerancesThatCannotBeAreRefusedByTheirPath(t *testing.T) {
	const kernel = `{"source_code":"","kernel_type":"torch"}`
	const body = `{"ref_kernel":` + kernel + `,"custom_kernel":` + kernel + `,`
	for _, tt := range []struct{ words, field, message string }{
		{`"tolerances":{"y":{"matched":1.5}}`, "tolerances -> y -> matched", "matched must be above 0, and 1 at most"},
		{`"tolerances":{"y":{"atol":-1}}`, "tolerances -> y -> atol", "atol must not be negative"},
		{`"tolerances":{"y":{"atoll":1}}`, "tolerances -> y -> atoll", "Extra inputs are not permitted"},
		{`"tolerances":{"y":1}`, "tolerances -> y", "valid dictionary or instance of Tolerance"},
		{`"tolerances":[]`, "tolerances", "valid dictionary"},
		{`"matched":0`, "matched", "matched must be above 0, and 1 at most"},
		{`"matched":0.9,"required_matched_ratio":0.8`, "matched", "are the same: give one of them"},
		{`"matched":1e-300`, "matched", "matched must be at least 0.01"},
		{`"atol":-1`, "atol", "atol must not be negative"},
		{`"atol":1e308`, "atol", "atol must be 1000000 at most"},
		{`"rtol":1e9`, "rtol", "rtol must be 1000000 at most"},
		{`"max_error":-1`, "max_error", "max_error must not be negative"},
		{`"infinite":"some"`, "infinite", "Input should be 'equal', 'negative' or 'never'"},
	} {
		_, problems := ReadRequest(KindCompare, decode(t, body+tt.words+`}`), RefuseMistyped)
		if len(problems) != 1 || problems[0].Field != tt.field || !strings.Contains(problems[0].Message, tt.message) {
			t.Errorf("%s: %+v", tt.words, problems)
		}
	}
	few := read(t, KindCompare, body+`"required_matched_ratio":1e-300}`)
	if err := few.Check(DefaultLimits()); err == nil || err.Error() != "required_matched_ratio must be at least 0.01" {
		t.Errorf("a share of nearly 0: %v", err)
	}
	r := read(
		t,
		KindCompare,
		body+`"matched":0.9,"atol":0.1,"tolerances":{"1":{"max_error":2}},"reuse_reference":true}`,
	)
	if r.MinMatchedShare != 0.9 || r.UsesDefaultTolerance || *r.Tolerances["1"].MaxError != 2 ||
		r.Tolerances["1"].ATol != nil {
		t.Errorf("%+v", r)
	}
	if err := r.Check(DefaultLimits()); err == nil ||
		!strings.HasPrefix(err.Error(), "reuse_reference cannot be combined with tolerances") {
		t.Errorf("with a kept reference: %v", err)
	}
}

func TestFilesOfAKernelAreThoseOfASubmission(t *testing.T) {
	const body = `{"kernel":{"kernel_type":%q,%s}}`
	for _, tt := range []struct{ kind, files, main, problem string }{
		{"torch", `"source_code":"m","source_files":{"a.py":"a","b.cuh":"b"}`, "m", ""},
		{"torch", `"source_files":{"main.py":"m","a.py":"a"}`, "m", ""},
		{"torch_cuda", `"source_files":{"model.py":"m","k.cu":"k"}`, "m", ""},
		{"cuda", `"source_files":{"k.cu":"m","k.cuh":"h"}`, "m", ""},
		{"torch", `"source_files":{"b.py":"m","a.py":"a"}`, "", "none of the files is known as the main one"},
		{"torch", `"source_files":{}`, "", "none of the files is known as the main one"},
		{"torch", `"source_code":"m","source_files":{"../a.py":"a"}`, "", "is not a plain file name"},
		{"torch", `"source_code":"m","source_files":{"contract.py":"a"}`, "", "has the name of a module that evaluations import"},
		{"torch", `"source_code":"m","source_files":{"torch.py":"a"}`, "", "has the name of a module that Warpboard's harness imports"},
		{"torch", `"source_code":"m","source_files":{"a.exe":"a"}`, "", "is not one that"},
		{"torch", `"source_code":"m","source_files":{"a.py":"` + strings.Repeat("x", 1_000_000) + `"}`, "", "the files come to 1000001 bytes together"},
	} {
		r, problems := ReadRequest(KindEvaluate, decode(t, fmt.Sprintf(body, tt.kind, tt.files)), RefuseMistyped)
		switch {
		case tt.problem == "" && (len(problems) > 0 || r.CustomKernel.Source != tt.main || len(r.CustomKernel.Files) == 0 || r.CustomKernel.Files["main.py"] != ""):
			t.Errorf("%s: %+v, %+v", tt.files, r.CustomKernel, problems)
		case tt.problem != "" && (len(problems) != 1 || problems[0].Field != "kernel -> source_files" || !strings.Contains(problems[0].Message, tt.problem)):
			t.Errorf("%.80s: %+v", tt.files, problems)
		}
	}
	if _, problems := ReadRequest(KindEvaluate, decode(t, `{"kernel":{"kernel_type":"torch"}}`), RefuseMistyped); len(
		problems,
	) != 1 ||
		problems[0].Field != "kernel -> source_code" {
		t.Errorf("without a source: %+v", problems)
	}
	long := strings.Repeat("x", 2*minLongText)
	if r := read(t, KindEvaluate, fmt.Sprintf(body, "torch", `"source_code":"m","source_files":{"a.py":"`+long+`"}`)); r.CustomKernel.Files["a.py"] != long {
		t.Errorf("a long file became %.40s", r.CustomKernel.Files["a.py"])
	}
}

func TestBaselinesAndSetupsThatCannotBeAreRefused(t *testing.T) {
	const body = `{"ref_kernel":{"source_code":"","kernel_type":%q},"custom_kernel":{"source_code":"","kernel_type":%q},%s}`
	for _, tt := range []struct{ ref, custom, words, want string }{
		{"torch", "torch_cuda", `"baselines":["eager","torch.compile"],"setup":true`, ""},
		{"multi_kernel", "torch", `"baselines":["eager"]`, "baselines need a reference of type torch, and this one is of type multi_kernel"},
		{"torch", "torch", `"baselines":["eager","eager"]`, "baselines names one of them twice"},
		{"torch", "torch", `"baselines":["eager"],"reuse_reference":true`, "baselines cannot be combined with reuse_reference"},
		{"torch", "cuda", `"setup":true`, "setup is for kernels of the types torch, torch_cuda, and multi_kernel, and this one is of type cuda"},
		{"torch", "torch", `"setup":true,"reuse_reference":true`, "setup cannot be combined with reuse_reference"},
	} {
		err := read(t, KindCompare, fmt.Sprintf(body, tt.ref, tt.custom, tt.words)).Check(DefaultLimits())
		if (err == nil) != (tt.want == "") || err != nil && !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.words, err, tt.want)
		}
	}
	_, problems := ReadRequest(KindCompare, decode(t, fmt.Sprintf(body, "torch", "torch", `"baselines":["jit"]`)),
		RefuseMistyped)
	if len(problems) != 1 || problems[0].Field != "baselines -> 0" ||
		problems[0].Message != "Input should be 'eager' or 'torch.compile'" {
		t.Errorf("an unknown baseline: %+v", problems)
	}
}
