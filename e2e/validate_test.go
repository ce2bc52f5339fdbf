package e2e

import (
	"archive/zip"
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	client "warpboard/clients/go"
	"warpboard/evaluator/job"
	"warpboard/internal/test/tier"
	"warpboard/models/accounts"
	"warpboard/models/work"
)

// triedTask returns a zip with a Python task. Its validation script checks that the kernel doubles 7 and 8. It does not
// end for a kernel that is slow in the script, and does not catch exceptions of the kernel.
func triedTask(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for name, text := range map[string]string{
		"task.yml": `lang: py
title: Tried
description: Double a number.
files:
  - {name: reference.py, source: reference.py}
  - {name: submission.py, source: "@SUBMISSION@"}
tests: [{size: 3, seed: 1}]
benchmarks: [{size: 3, seed: 1}]
test_timeout: 10
benchmark_timeout: 10
ranked_timeout: 10
validation: {version: v1, script: apply.py}
`,
		"reference.py": "def generate_input(size, seed): return size\n\ndef check_implementation(data, output): return '' if output == 2 * data else 'wrong'\n",
		"apply.py": `from submission import custom_kernel

right = [n for n in (3, 7, 8) if custom_kernel(n) == 2 * n]
print("applies" if len(right) == 3 else "does not apply", f": right are {right}", sep="")
`,
	} {
		f, err := w.Create("tried/" + name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(f, text)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestAnAuthorHasAScriptTryTheFirstEntries runs the validation script on the CPU after the deadline. The board must
// show its results.
func TestAnAuthorHasAScriptTryTheFirstEntries(t *testing.T) {
	tier.Needs(t, tier.Faults)
	t.Parallel()
	s := startTaskSite(t)
	cora := s.person(t, "Cora", accounts.RoleCreator)
	publish := func(deadline string) {
		t.Helper()
		p := client.Publication{Task: "tried", File: "tried.zip", Data: triedTask(t), Devices: []string{"CPU"},
			Deadline: deadline}
		if _, err := cora.PublishTask(t.Context(), p); err != nil {
			t.Fatal(err)
		}
	}
	publish("")
	answers := map[string]string{"Ann": "applies: right are [3, 7, 8]", "Ben": "does not apply: right are [3]",
		"Cid": "no answer: The script reached its time limit of 10 s.",
		"Dan": "no answer: The script ended with exit code 1. ZeroDivisionError: integer division or modulo by zero"}
	for name, source := range map[string]string{
		"Ann": "def custom_kernel(n): return 2 * n\n", "Ben": "def custom_kernel(n): return 6\n",
		"Cid": "import time\ndef custom_kernel(n):\n    time.sleep(0 if n == 3 else 1000)\n    return 2 * n\n",
		"Dan": "def custom_kernel(n): return 2 * n if n == 3 else 1 // 0\n",
	} {
		p := s.person(t, name, accounts.RoleUser)
		sub, err := p.Submit(t.Context(),
			client.NewSubmission{Task: "tried", Devices: []string{"CPU"}, Mode: job.ModeRanked,
				FileName: "submission.py", Source: source})
		if err != nil {
			t.Fatal(err)
		}
		p.reach(sub.ID, work.StateDone)
	}
	if _, err := cora.QueueValidations(t.Context(), "tried"); err == nil || !strings.Contains(err.Error(), "has no deadline") {
		t.Errorf("on an open board: %v", err)
	}
	publish(time.Now().Add(-time.Minute).UTC().Format(time.RFC3339))
	if _, err := s.person(t, "Ann", accounts.RoleUser).QueueValidations(t.Context(), "tried"); err == nil ||
		!strings.Contains(err.Error(), "Only the author") {
		t.Errorf("someone else: %v", err)
	}
	if queued, err := cora.QueueValidations(t.Context(), "tried"); err != nil || queued.Queued != 4 {
		t.Fatalf("queued are %+v, %v", queued, err)
	}
	tier.WaitFor(t, "the script's answers", func() error {
		board, err := cora.Board(t.Context(), "tried", "CPU", 1)
		if err != nil {
			return err
		}
		for _, e := range board.Entries {
			v := e.Validation
			if v == nil || v.Answer == "" ||
				strings.TrimSuffix(v.Answer+": "+v.Message, ": ") != answers[e.User.Name] || v.AskedBy != "Cora" ||
				v.ScriptVersion != "v1" {
				return fmt.Errorf("of %s: %+v, want %s", e.User.Name, v, answers[e.User.Name])
			}
		}
		return nil
	})
}
