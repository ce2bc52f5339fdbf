package evaluator

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"warpboard/evaluator/job"
)

// bulky is a result with much of everything in its ranked stage.
func bulky() job.Result {
	r := job.Result{RunID: 1, AttemptID: "a1", Outcome: job.OutcomeDone}
	for _, stage := range []job.Stage{job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked} {
		s := job.StageResult{
			Stage: stage, Status: job.StatusPass,
			Stdout: strings.Repeat("é", 100_000), Stderr: strings.Repeat("\x00", 100_000),
			Extra: map[string]string{"report": strings.Repeat("x", 500_000)},
		}
		for i := range 250 {
			s.Cases = append(s.Cases, job.CaseResult{
				Index: i, Spec: fmt.Sprint("size: ", i), Status: job.StatusPass, Mean: 1.5, Runs: 100,
				Message: strings.Repeat("m", 4<<10), Times: make([]float64, 100),
			})
		}
		r.Stages = append(r.Stages, s)
	}
	r.Evaluation = json.RawMessage(`{"stdout":"` + strings.Repeat("o", 200_000) + `","device":"CPU"}`)
	r.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Size: 3 << 20, Data: make([]byte, 3<<20)}}
	return r
}

func TestAnyResultIsTruncatedToFit(t *testing.T) {
	for _, size := range []int{16 << 20, 4 << 20, 1 << 20, 512 << 10} {
		r := bulky()
		truncateResult(&r, size)
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if len(data) > size {
			t.Errorf("result has %d bytes, %d fit", len(data), size)
		}
		for i, s := range r.Stages {
			if len(s.Cases) != 250 || s.Cases[249].Mean != 1.5 || s.Cases[7].Spec != "size: 7" || !utf8.ValidString(s.Stdout) {
				t.Errorf("size %d: stage %d lost what decides: %d cases", size, i, len(s.Cases))
			}
		}
		if a := r.Artifacts[0]; a.Size != 3<<20 {
			t.Errorf("size %d: the artifact's true size is gone: %d", size, a.Size)
		}
	}
}

func TestAResultThatFitsIsNotTruncated(t *testing.T) {
	r := bulky()
	truncateResult(&r, 64<<20)
	if !reflect.DeepEqual(r, bulky()) {
		t.Error("the result has changed")
	}
}

func TestTruncatingDoesNotChangeWhatOthersHold(t *testing.T) {
	r := bulky()
	held := r.Stages
	truncateResult(&r, 512<<10)
	if !reflect.DeepEqual(held, bulky().Stages) {
		t.Error("the stages that were there before have changed")
	}
}
