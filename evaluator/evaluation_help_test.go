package evaluator_test

import (
	"encoding/json"
	"log/slog"
	"os"
	"strings"
	"sync"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
	"warpboard/internal/test/tier"
	"warpboard/tasks"
)

// doubling is a reference in KernelBench's form.
const doubling = `import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.rand(1000) + 1]
def get_init_inputs():
    return []
`

// torchModelSource returns a torch module whose forward has this body.
func torchModelSource(body string) string {
	return "import ctypes, os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " + body + "\n"
}

func torch(source string) map[string]any {
	return map[string]any{"source_code": source, "kernel_type": "torch"}
}

// ask parses the body of a request as the site does, and sets missing fields to values for quick tests.
func ask(t *testing.T, kind kernelrun.EvaluationKind, body map[string]any) kernelrun.Request {
	t.Helper()
	for name, value := range map[string]any{"num_trials": 3, "l2_flush": false, "timeout": 60} {
		if _, given := body[name]; !given {
			body[name] = value
		}
	}
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	var decoded map[string]any
	if err := decoder.Decode(&decoded); err != nil {
		t.Fatal(err)
	}
	request, problems := kernelrun.ReadRequest(kind, decoded, kernelrun.RefuseAll)
	if len(problems) > 0 {
		t.Fatalf("the request has problems: %+v", problems)
	}
	return request
}

func compare(t *testing.T, ref, custom map[string]any) kernelrun.Request {
	t.Helper()
	return ask(t, kernelrun.KindCompare, map[string]any{"ref_kernel": ref, "custom_kernel": custom})
}

func evaluateOne(t *testing.T, code map[string]any) kernelrun.Request {
	t.Helper()
	return ask(t, kernelrun.KindEvaluate, map[string]any{"kernel": code})
}

func evaluationJob(t *testing.T, request kernelrun.Request) job.Job {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return job.Job{
		MessageVersion: job.MessageVersion, AttemptID: "a1", AttemptSecret: "secret", Device: "CPU",
		Task: tasks.Definition{Lang: tasks.LangPython, HasOwnHarness: true}, EvaluationID: "e1", Evaluation: data,
	}
}

// evaluateOn runs a request on the worker.
func evaluateOn(t *testing.T, w *evaluator.Worker, request kernelrun.Request) kernelrun.Result {
	t.Helper()
	return evaluateFor(t, w, "token:1", request)
}

// evaluateFor runs a caller's request.
func evaluateFor(t *testing.T, w *evaluator.Worker, caller string, request kernelrun.Request) kernelrun.Result {
	t.Helper()
	j := evaluationJob(t, request)
	j.Caller = caller
	result, err := w.Evaluate(t.Context(), j)
	if err != nil || result.Outcome != job.OutcomePassed || result.EvaluationID != "e1" {
		t.Fatalf("outcome %s (%+v), %v", result.Outcome, result.Failure, err)
	}
	var out kernelrun.Result
	if err := json.Unmarshal(result.Evaluation, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

// commonEvaluator is the worker of most tests of evaluations. All their requests have the same caller, so PyTorch is
// imported only once.
type commonEvaluator struct {
	once   sync.Once
	root   string
	worker *evaluator.Worker
	err    error
}

var evaluations commonEvaluator

// on returns the worker, whose log is discarded.
func (c *commonEvaluator) on(t *testing.T) *evaluator.Worker {
	t.Helper()
	tier.Needs(t, tier.Torch)
	c.once.Do(func() {
		if c.root, c.err = os.MkdirTemp("", "warpboard-evaluations-"); c.err != nil {
			return
		}
		var cfg evaluator.Config
		cfg, c.err = configIn(c.root, slog.New(slog.DiscardHandler),
			func(r toolchain.ProcessRunner) toolchain.ProcessRunner { return r })
		cfg.Conn = evaluator.NopConn{}
		c.worker = evaluator.NewWorker(cfg)
	})
	if c.err != nil {
		t.Fatal(c.err)
	}
	return c.worker
}

// close ends processes that the last test left.
func (c *commonEvaluator) close() {
	if c.worker != nil {
		c.worker.Close()
	}
	os.RemoveAll(c.root)
}
