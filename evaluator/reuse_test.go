package evaluator_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/attempt"
	"warpboard/evaluator/job"
	"warpboard/evaluator/judge"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
)

// reusing is a worker, with a record of the stages of its evaluations.
type reusing struct {
	t      *testing.T
	worker *evaluator.Worker
	stages []string // mode and processes of each stage of the last evaluation
	begins func(mode string)
	closed bool   // true if the last program was closed
	silent string // mode whose stages report nothing, as if the judge had died
}

func newReusing(t *testing.T) *reusing {
	t.Helper()
	r := &reusing{t: t}
	cfg := realConfig(t)
	cfg.Conn, cfg.Builder = evaluator.NopConn{}, notingBuilder{cfg.Builder, r}
	r.worker = evaluator.NewWorker(cfg)
	t.Cleanup(r.worker.Close)
	return r
}

type notingBuilder struct {
	evaluator.Builder
	notes *reusing
}

func (b notingBuilder) Open(
	ctx context.Context, a *toolchain.Artifact, place toolchain.Environment,
) (toolchain.Program, error) {
	p, err := b.Builder.Open(ctx, a, place)
	b.notes.closed = false
	return notingProgram{p, b.notes}, err
}

type notingProgram struct {
	toolchain.Program
	notes *reusing
}

func (p notingProgram) RunStage(ctx context.Context, req toolchain.StageRequest) (judge.StageEnding, error) {
	stage := req.Mode
	for _, process := range req.Processes {
		stage += " " + strings.Join(process.Arguments, "-")
	}
	p.notes.stages = append(p.notes.stages, stage)
	if p.notes.begins != nil {
		p.notes.begins(req.Mode)
	}
	if req.Mode == p.notes.silent {
		return judge.StageEnding{}, nil
	}
	return p.Program.RunStage(ctx, req)
}

func (p notingProgram) Next(a *toolchain.Artifact) toolchain.Program {
	if next := p.Program.Next(a); next != nil {
		return notingProgram{next, p.notes}
	}
	return nil
}

func (p notingProgram) Close() error {
	p.notes.closed = true
	return p.Program.Close()
}

const (
	recorded = "record kernel-ref inputs-ref"
	recalled = "recall kernel-custom inputs-ref"
	inFull   = "test kernel-custom kernel-ref inputs-ref"
)

// compare compares with reuse_reference; change changes the request.
func (r *reusing) compare(ref, custom string, change func(map[string]any), stages ...string) kernelrun.Result {
	r.t.Helper()
	return r.compareFor("token:1", ref, custom, change, stages...)
}

func (r *reusing) compareFor(
	caller, ref, custom string, change func(map[string]any), stages ...string,
) kernelrun.Result {
	r.t.Helper()
	body := map[string]any{"ref_kernel": torch(ref), "custom_kernel": torch(custom), "reuse_reference": true}
	if change != nil {
		change(body)
	}
	r.stages = nil
	result := evaluateFor(r.t, r.worker, caller, ask(r.t, kernelrun.KindCompare, body))
	if !slices.Equal(r.stages, stages) {
		r.t.Errorf("its stages are %q, want %q (%s)", r.stages, stages, result.ValidationError)
	}
	if reused := slices.Equal(stages, []string{recalled}); reused != (result.ReusedReference != nil) {
		r.t.Errorf("it reports %+v after %q", result.ReusedReference, r.stages)
	}
	return result
}

// twice is a reference with so many outputs that no source of 900 bytes can contain the answers, not even to only three
// calls on a busy machine. large has more outputs than the judge keeps of a timed call.
var (
	twice = strings.Replace(doubling, "1000", "60_000", 1)
	large = strings.Replace(doubling, "1000", "200_000", 1)
)

// counting is a kernel that knows the number of its call.
func counting(body string) string {
	return "import torch\nclass Model(torch.nn.Module):\n    calls = 0\n    def forward(self, x):\n        Model.calls += 1\n        " + body + "\n"
}

func TestVerdictsAreTheSameBesideAKeptReference(t *testing.T) {
	tier.Needs(t, tier.Torch)
	r := newReusing(t)
	r.compare(large, torchModelSource("return x + x"), nil, recorded, recalled)
	for name, tt := range map[string]struct {
		custom  string
		right   bool
		message string
	}{
		"right":                 {torchModelSource("return x + x"), true, ""},
		"wrong":                 {torchModelSource("return x * 3"), false, "don't match within tolerance. Trials passed: 0/2"},
		"wrong in timed calls":  {counting("return x * (2 if Model.calls < 5 else 3)"), false, "of those that are timed was wrong"},
		"a hundredth is undone": {counting("y = x * 2\n        y[-2000 * (Model.calls > 4):] = 0 if Model.calls > 4 else y\n        return y"), false, "of those that are timed was wrong"},
		"one NaN":               {counting("y = x * 2\n        y[77] = float('nan') if Model.calls > 4 else y[77]\n        return y"), false, "holds 1 NaN where the reference has none; the first is element 77"},
		"another form":          {torchModelSource("return x[1:] * 2"), false, "Shape mismatch: ref=[torch.Size([200000])], custom=[torch.Size([199999])]"},
		"it raises":             {torchModelSource("raise ValueError('not today')"), false, "not today"},
		"inputs that come back": {counting("seen = Model.__dict__.get('seen') or set(); Model.seen = seen | {float(x[0])}; assert float(x[0]) not in seen; return x * 2"), true, ""},
	} {
		result := r.compare(large, tt.custom, nil, recalled)
		if !result.Compiled || result.Correctness != tt.right || !strings.Contains(result.ValidationError, tt.message) {
			t.Errorf("%s: %+v", name, result.Report)
		}
		if tt.right &&
			(result.Speedup != nil || result.SpeedupInterval != nil || len(result.Times) != 3 || result.RefRuntime != nil || result.RuntimeStats == nil || *result.FreshInputs ||
				result.ReusedReference.TimedCalls < 3 || result.ReusedReference.AgeSeconds <= 0 ||
				result.MaxDifference == nil) {
			t.Errorf("%s: %+v", name, result.Report)
		}
	}
	near, tight := torchModelSource(
		"y = x * 2; y[41] = y[41] + 0.005; return y",
	), func(body map[string]any) { body["atol"], body["rtol"] = 1e-5, 0 }
	if result := r.compare(large, near, nil, recalled); !result.Correctness {
		t.Errorf("within the default tolerance: %+v", result.Report)
	}
	if result := r.compare(large, near, tight, recorded, recalled); result.Correctness ||
		result.FirstMismatch["element"] != 41.0 {
		t.Errorf("beyond a tight tolerance: %+v", result.Report)
	}
}

func TestAReferenceIsKeptForTheSameWorkOfOneCaller(t *testing.T) {
	tier.Needs(t, tier.Torch)
	r, right := newReusing(t), torchModelSource("return x + x")
	r.compare(twice, right, nil, recorded, recalled)
	r.compare(twice, right, nil, recalled)
	r.compare(strings.Replace(twice, "x * 2", "2 * x", 1), right, nil, recorded, recalled)
	r.compare(strings.Replace(twice, "+ 1", "+ 2", 1), right, nil, recorded, recalled)
	r.compare(twice, right, func(body map[string]any) { body["l2_flush"] = true }, recorded, recalled)
	many := func(body map[string]any) { body["num_trials"] = 150 }
	if result := r.compare(twice, right, many, recorded, recalled); len(result.Times) != 150 {
		t.Errorf("%d times of 150 trials", len(result.Times))
	}
	if result := r.compare(twice, right, nil, recalled); result.ReusedReference.TimedCalls != 150 {
		t.Errorf("it was compared with %d calls of 150", result.ReusedReference.TimedCalls)
	}
	sleeping := func(seconds string) string {
		return "import time\n" + strings.Replace(twice, "return x * 2", "time.sleep("+seconds+"); return x * 2", 1)
	}
	stopping := func(body map[string]any) {
		body["num_trials"], body["stop_when"] = 25, map[string]any{"speedup_above": 1.5}
	}
	r.compare(sleeping("0.02"), sleeping("0.002"), stopping, recorded, recalled)
	if result := r.compare(sleeping("0.02"), sleeping("0.002"), stopping, recalled); result.EarlyStop != nil ||
		len(result.Times) != 25 {
		t.Errorf("a speedup that is not measured ended the calls: %+v, %d", result.EarlyStop, len(result.Times))
	}
	r.compareFor("token:2", twice, right, nil, recorded, recalled)
	r.compare(twice, right, nil, recorded, recalled) // the first caller's record was not kept beside the second's
	without := func(body map[string]any) { delete(body, "reuse_reference") }
	if result := r.compare(twice, right, without, inFull); result.CompileSeconds["ref"] <= 0 {
		t.Errorf("a request without the option: %+v", result.Report)
	}
}

func TestAReferenceThatCannotBeKeptRunsEachTime(t *testing.T) {
	tier.Needs(t, tier.Torch)
	r, right := newReusing(t), torchModelSource("return x + x")
	changing := strings.Replace(
		twice,
		"torch.rand(60_000)",
		"torch.rand(60_000) * (int.from_bytes(__import__('os').urandom(2), 'little') / 65536)",
		1,
	)
	sparse := strings.Replace(
		twice,
		"torch.rand(60_000)",
		"torch.rand(1_000_000).index_fill_(0, torch.tensor([int.from_bytes(__import__('os').urandom(4), 'little') % 1_000_000]), 5.0)",
		1,
	)
	stateful := strings.Replace(
		twice,
		"return x * 2",
		"Model.n = getattr(Model, 'n', 0) + 1; return x * 2 + 0.01 * Model.n",
		1,
	)
	alike := "import torch\n" + stateful[strings.Index(stateful, "class Model"):strings.Index(stateful, "def get_inputs")]
	for name, tt := range map[string][2]string{"inputs that differ when they are drawn again": {changing, right}, "inputs that differ in one element": {sparse, right}, "answers that depend on earlier calls": {stateful, alike}} {
		for _, stages := range [][]string{{recorded, inFull}, {inFull}} {
			if result := r.compare(tt[0], tt[1], nil, stages...); !result.Correctness || result.Speedup == nil {
				t.Errorf("%s: %+v", name, result.Report)
			}
		}
	}
	salted := strings.Replace(
		twice,
		"torch.rand(60_000)",
		"torch.rand(60_000) * SALT",
		1,
	) + "SALT = 1 + int.from_bytes(__import__('os').urandom(2), 'little') / 65536\n"
	for _, stages := range [][]string{{recorded, recalled, inFull}, {inFull}} {
		if result := r.compare(salted, right, nil, stages...); !result.Correctness || result.Speedup == nil {
			t.Errorf("inputs that differ from process to process: %+v", result.Report)
		}
	}
	for _, stages := range [][]string{{recorded, inFull}, {inFull}} {
		if result := r.compare(strings.Replace(doubling, "1000", "2", 1), right, nil, stages...); !result.Correctness ||
			!*result.FreshInputs {
			t.Errorf("answers that a source could contain: %+v", result.Report)
		}
	}
	leaving := strings.Replace(twice, "return x * 2", "__import__('os')._exit(0)", 1)
	if result := r.compare(leaving, right, nil, recorded, inFull); !strings.Contains(
		result.ValidationError,
		"The reference's process exited with code 0",
	) {
		t.Errorf("a reference that leaves: %+v", result.Report)
	}
	r.compare(twice, right, nil, recorded, recalled)
	if result := r.compare(twice, right+"#"+strings.Repeat("x", 40_000), nil, inFull); !result.Correctness ||
		result.Speedup == nil {
		t.Errorf("a kernel that could contain answers: %+v", result.Report)
	}
	if result := r.compare(twice, torchModelSource("os._exit(0)"), nil, recalled); !strings.Contains(
		result.ValidationError,
		"The kernel's process exited with code 0 while validating",
	) {
		t.Errorf("a kernel that leaves: %+v", result.Report)
	}
	r.compare(twice, right, nil, recorded, recalled)
	if result := r.compare("broken", right, nil, recordedAlone, inFullAlone); !strings.Contains(
		result.RefCompilationError,
		"NameError",
	) ||
		!result.Compiled {
		t.Errorf("a reference that does not compile: %+v", result.Report)
	}
}

const (
	recordedAlone = "record kernel-ref"
	inFullAlone   = "test kernel-custom kernel-ref"
)

// TestAReferenceFindsNothingThatOtherKernelsCompiled checks that a reference does not load files that another kernel
// compiled, because they could make it wrong or slow.
func TestAReferenceFindsNothingThatOtherKernelsCompiled(t *testing.T) {
	tier.Needs(t, tier.Torch)
	const place = `os.path.join(os.environ["TRITON_CACHE_DIR"], "kernel")`
	looking := strings.Replace(
		"import os\n"+twice,
		"return x * 2",
		"exec(open("+place+").read()) if os.path.exists("+place+") else None; return x * 2",
		1,
	)
	leaving := "import os\nos.makedirs(os.environ['TRITON_CACHE_DIR'], exist_ok=True)\nopen(" + place + ", 'w').write('x.zero_()')\n" + torchModelSource(
		"return x * 0",
	)
	r := newReusing(t)
	without := func(body map[string]any) { delete(body, "reuse_reference") }
	r.compare(looking, leaving, without, inFull)
	if result := r.compare(looking, torchModelSource("return x * 0"), nil, recorded, recalled); result.Correctness {
		t.Errorf("the reference ran what an earlier evaluation's kernel left: %+v", result.Report)
	}
}

func TestAnEvaluationBesideAKeptReferenceCanBeCancelled(t *testing.T) {
	tier.Needs(t, tier.Torch)
	for _, mode := range []string{"record", "recall"} {
		r := newReusing(t)
		ctx, cancel := context.WithCancelCause(t.Context())
		r.begins = func(begun string) {
			if begun == mode {
				cancel(attempt.ErrCancelled)
			}
		}
		j := evaluationJob(
			t,
			ask(
				t,
				kernelrun.KindCompare,
				map[string]any{
					"ref_kernel":      torch(twice),
					"custom_kernel":   torch(torchModelSource("return x * 2")),
					"reuse_reference": true,
				},
			),
		)
		j.Caller = "token:1"
		if result, err := r.worker.Evaluate(ctx, j); err != nil || result.Outcome != job.OutcomeCancelled || !r.closed {
			t.Errorf("cancelled in %s: outcome %s, %v; its program was closed: %v", mode, result.Outcome, err, r.closed)
		}
		cancel(nil)
	}
}

// TestAReferenceThatCannotBeRecordedIsTriedOnce checks that recording is not tried again, because each try takes a part
// of the time limit.
func TestAReferenceThatCannotBeRecordedIsTriedOnce(t *testing.T) {
	tier.Needs(t, tier.Torch)
	r, right := newReusing(t), torchModelSource("return x + x")
	slow := strings.Replace(twice, "return x * 2", "__import__('time').sleep(0.6); return x * 2", 1)
	soon := func(body map[string]any) { body["num_trials"], body["timeout"] = 12, 30 }
	for _, stages := range [][]string{{recorded, inFull}, {inFull}} {
		if result := r.compare(slow, right, soon, stages...); result.Speedup == nil || len(result.Times) != 12 {
			t.Errorf("a reference that takes too long: %+v", result.Report)
		}
	}
	r.silent = "record"
	for _, stages := range [][]string{{recorded, inFull}, {inFull}} {
		r.compare(twice, right, nil, stages...)
	}
}
