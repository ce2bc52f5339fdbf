package evaluator_test

import (
	"encoding/json"
	"strings"
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/tasks"
)

// doubling is a reference of KernelBench's form.
const doubling = `import torch
class Model(torch.nn.Module):
    def forward(self, x):
        return x * 2
def get_inputs():
    return [torch.rand(1000) + 1]
def get_init_inputs():
    return []
`

// model is a torch module whose forward has this body.
func model(body string) string {
	return "import ctypes, os, torch\nclass Model(torch.nn.Module):\n    def forward(self, x):\n        " + body + "\n"
}

func torch(source string) map[string]any {
	return map[string]any{"source_code": source, "kernel_type": "torch"}
}

// ask reads a request as the site does; fields add to the kernelrun.
func ask(t *testing.T, kind kernelrun.Kind, body map[string]any) kernelrun.Request {
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
	request, problems := kernelrun.Read(kind, decoded, kernelrun.RefuseAll)
	if len(problems) > 0 {
		t.Fatalf("the request has problems: %+v", problems)
	}
	return request
}

func compare(t *testing.T, ref, custom map[string]any) kernelrun.Request {
	t.Helper()
	return ask(t, kernelrun.Compare, map[string]any{"ref_kernel": ref, "custom_kernel": custom})
}

func evaluateOne(t *testing.T, code map[string]any) kernelrun.Request {
	t.Helper()
	return ask(t, kernelrun.Evaluate, map[string]any{"kernel": code})
}

func evaluationJob(t *testing.T, request kernelrun.Request) job.Job {
	t.Helper()
	data, err := json.Marshal(request)
	if err != nil {
		t.Fatal(err)
	}
	return job.Job{
		Version: job.Version, AttemptID: "a1", Secret: "secret", Device: "CPU",
		Task: tasks.Definition{Lang: tasks.LangPython, OwnHarness: true}, EvaluationID: "e1", Evaluation: data,
	}
}

// evaluateOn carries a request out on the worker.
func evaluateOn(t *testing.T, w *evaluator.Worker, request kernelrun.Request) kernelrun.Result {
	t.Helper()
	result, err := w.Evaluate(t.Context(), evaluationJob(t, request))
	if err != nil || result.Outcome != job.OutcomeDone || result.EvaluationID != "e1" {
		t.Fatalf("outcome %s (%+v), %v", result.Outcome, result.Failure, err)
	}
	var out kernelrun.Result
	if err := json.Unmarshal(result.Evaluation, &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func newEvaluator(t *testing.T) *evaluator.Worker {
	t.Helper()
	cfg := realConfig(t)
	cfg.Conn = evaluator.NopConn{}
	return evaluator.NewWorker(cfg)
}

// newDoubleEvaluator returns one for two evaluations at a time, whose times are then of no use.
func newDoubleEvaluator(t *testing.T) *evaluator.Worker {
	t.Helper()
	cfg := realConfig(t)
	second := cfg.Slots[0]
	second.Index = 1
	cfg.Conn, cfg.Slots = evaluator.NopConn{}, append(cfg.Slots, second)
	return evaluator.NewWorker(cfg)
}
