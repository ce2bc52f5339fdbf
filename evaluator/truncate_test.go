package evaluator

import (
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"warpboard/evaluator/job"
)

const bulkyCases = 60 // cases per stage

// bulky returns a result with large data in its ranked stage.
func bulky() job.Result {
	r := job.Result{RunID: 1, AttemptID: "a1", Outcome: job.OutcomePassed}
	for _, stage := range []job.Stage{job.StageBuild, job.StageTest, job.StageBenchmark, job.StageRanked} {
		s := job.StageResult{
			Stage: stage, Status: job.StatusPass,
			Stdout: strings.Repeat("é", 40_000), Stderr: strings.Repeat("\x00", 25_000),
			ExtraKeys: map[string]string{"report": strings.Repeat("x", 125_000)},
		}
		for i := range bulkyCases {
			s.Cases = append(s.Cases, job.CaseResult{
				Index: i, SpecLine: fmt.Sprint("size: ", i), Status: job.StatusPass, Mean: 1.5, Runs: 100,
				Message: strings.Repeat("m", 4<<10), Times: make([]float64, 25),
			})
		}
		r.Stages = append(r.Stages, s)
	}
	r.Evaluation = json.RawMessage(`{"stdout":"` + strings.Repeat("o", 100_000) + `","device":"CPU"}`)
	r.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Size: 1 << 20, Data: make([]byte, 1<<20)}}
	return r
}

func TestAnyResultIsTruncatedToFit(t *testing.T) {
	for _, size := range []int{4 << 20, 2 << 20, 512 << 10, 128 << 10} {
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
			if len(s.Cases) != bulkyCases || s.Cases[bulkyCases-1].Mean != 1.5 || s.Cases[7].SpecLine != "size: 7" ||
				!utf8.ValidString(s.Stdout) {
				t.Errorf("size %d: stage %d lost what decides: %d cases", size, i, len(s.Cases))
			}
		}
		if a := r.Artifacts[0]; a.Size != 1<<20 {
			t.Errorf("size %d: the artifact's true size is gone: %d", size, a.Size)
		}
	}
}

// TestAResultOfTooManyValuesLosesItsDetailsFirst has a result with more JSON values than the site accepts in a message,
// however small they are.
func TestAResultOfTooManyValuesLosesItsDetailsFirst(t *testing.T) {
	report := "[" + strings.Repeat("0,", job.MaxJSONValues) + "0]"
	r := job.Result{Outcome: job.OutcomePassed,
		Evaluation: json.RawMessage(`{"device":"CPU","metrics":{"custom":{"report":` + report + `}}}`)}
	truncateResult(&r, 4<<20)
	data, err := json.Marshal(r)
	if err != nil || job.CheckValueCount(data) != nil || !strings.Contains(string(r.Evaluation), `"device":"CPU"`) ||
		r.Outcome != job.OutcomePassed {
		t.Errorf("%v, %v: %.200s", err, job.CheckValueCount(data), data)
	}
}

func TestAResultThatFitsIsNotTruncated(t *testing.T) {
	r := bulky()
	truncateResult(&r, 64<<20)
	if !reflect.DeepEqual(r, bulky()) {
		t.Error("the result has changed")
	}
}

func TestTruncatingDoesNotChangeSharedData(t *testing.T) {
	r := bulky()
	held := r.Stages
	truncateResult(&r, 128<<10)
	if !reflect.DeepEqual(held, bulky().Stages) {
		t.Error("the stages that were there before have changed")
	}
}

// TestAResultThatCannotBeSentEndsTheAttempt checks that a result that is too large is replaced by an infrastructure
// error with the reason, and not sent again forever.
func TestAResultThatCannotBeSentEndsTheAttempt(t *testing.T) {
	for name, test := range map[string]struct {
		stage job.StageResult
		why   string
	}{
		"too many cases": {job.StageResult{Cases: make([]job.CaseResult, 60_000)}, "60000 cases"},
		"not a number":   {job.StageResult{Cases: []job.CaseResult{{Mean: math.NaN()}}}, "JSON"},
	} {
		const size = 1 << 20
		r := job.Result{RunID: 7, AttemptID: "a1", AttemptSecret: "s", Outcome: job.OutcomePassed,
			Machine: job.Machine{Worker: "w1"}, SlotNS: 5, Stages: []job.StageResult{test.stage}}
		truncateResult(&r, size)
		data, err := json.Marshal(r)
		if err != nil || len(data) > size {
			t.Errorf("%s: %d bytes, %v", name, len(data), err)
		}
		if r.RunID != 7 || r.AttemptID != "a1" || r.AttemptSecret != "s" || r.Machine.Worker != "w1" || r.SlotNS != 5 {
			t.Errorf("%s: it is not known whose result it is: %+v", name, r)
		}
		if r.Outcome != job.OutcomeLost || !r.CausedByJob || r.Failure == nil || !r.Failure.IsInfrastructureError ||
			!strings.Contains(r.Failure.Reason, test.why) {
			t.Errorf("%s: %s, %+v", name, r.Outcome, r.Failure)
		}
	}
}
