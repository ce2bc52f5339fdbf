package main

import (
	"bytes"
	"testing"

	"warpboard/evaluator/job"
	"warpboard/web/client"
)

func TestARunIsToldInOneLine(t *testing.T) {
	score := 1234.0
	for want, run := range map[string]client.Run{
		"H200   done  score 1.23µs  profile http://site/submissions/1/runs/2/profile\n": {
			Device: "H200", State: "done", ScoreNS: &score, Profile: "http://site/submissions/1/runs/2/profile"},
		"CPU    failed  Wrong answer.\n": {Device: "CPU", State: "failed", Failure: &job.Failure{Reason: "Wrong answer."}},
	} {
		var out bytes.Buffer
		if printRun(&out, run); out.String() != want {
			t.Errorf("printed %q, want %q", out.String(), want)
		}
	}
}
