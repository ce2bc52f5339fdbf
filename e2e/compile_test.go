package e2e

import (
	"encoding/json"
	"slices"
	"strings"

	"warpboard/evaluator/kernelrun"
)

// compiled sends a request to compile, and returns the result of the compilation.
func (p person) compiled(request map[string]any) (result kernelrun.Report) {
	p.t.Helper()
	e, err := p.Compile(p.t.Context(), request)
	if err != nil || !e.Ended || e.Result == nil {
		p.t.Fatalf("%v, %+v, %v", request["task"], e, err)
	}
	var answer struct {
		Result kernelrun.Report `json:"kernel_exec_result"`
	}
	if err := json.Unmarshal(*e.Result, &answer); err != nil {
		p.t.Fatal(err)
	}
	if answer.Result.Compilation == nil {
		p.t.Fatalf("no compilation: %s", *e.Result)
	}
	return answer.Result
}

// compiles compiles a submission, a source with an error, and a source without a task. It checks that no run is
// created.
func (p person) compiles() {
	p.t.Helper()
	before := p.submissions()
	good := p.compiled(map[string]any{"task": smallTask, "source_code": kernel("")})
	if code := good.Compilation.Listings; !good.Compiled || len(code) != 1 ||
		!slices.ContainsFunc(code[0].Code, func(l kernelrun.CodeLine) bool { return strings.Contains(l.Text, "custom_kernel(") }) ||
		!slices.ContainsFunc(code[0].Code, func(l kernelrun.CodeLine) bool { return l.Line > 0 }) {
		p.t.Errorf("a submission: %+v", good.Compilation)
	}
	if seconds := good.CompileSeconds["custom"]; seconds <= 0 || seconds != good.Compilation.Seconds {
		p.t.Errorf("it took %v s, and %v s", seconds, good.Compilation.Seconds)
	}
	bad := p.compiled(map[string]any{"kernel_type": "cpp", "source_code": "int f(int n) {\n  int m;\n  return nonsense;\n}\n"})
	if d := bad.Compilation.Diagnostics; bad.Compiled || len(d) != 1 || d[0].Line != 3 || d[0].Severity != "error" || !strings.Contains(d[0].Text, "nonsense") {
		p.t.Errorf("a mistake: %+v", bad.Compilation)
	}
	for body, want := range map[string]string{
		`{"source_code": "x"}`:                                        "kernel_type is missing",
		`{"source_code": "x", "kernel_type": "fortran"}`:              "kernel_type",
		`{"source_code": "", "kernel_type": "cpp"}`:                   "source_code is empty",
		`{"source_code": "x", "task": "none"}`:                        `there is no task \"none\"`,
		`{"source_code": "x", "kernel_type": "cuda"}`:                 "No connected worker can compile CUDA",
		`{"source_code": "x", "kernel_type": "cpp", "num_trials": 3}`: "num_trials",
		`{"source_code": "x", "kernel_type": "cpp", "timeout": 0}`:    "timeout must be at least 5",
		`{"source_code": "a\u0000b", "kernel_type": "cpp"}`:           "source_code",
	} {
		if _, err := p.Compile(p.t.Context(), json.RawMessage(body)); err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, `\"`, `"`)) {
			p.t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
	if after := p.submissions(); after != before {
		p.t.Errorf("compiling made %d submissions", after-before)
	}
}

// submissions returns the number of the person's submissions to the small task.
func (p person) submissions() int {
	p.t.Helper()
	list, err := p.OwnSubmissions(p.t.Context(), smallTask, 0, 20)
	if err != nil {
		p.t.Fatal(err)
	}
	return len(list.Submissions)
}
