package evaluator

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"warpboard/evaluator/job"
	"warpboard/evaluator/ncu"
	"warpboard/evaluator/queue"
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
				Message: strings.Repeat("m", maxMessage), Times: make([]float64, 100),
			})
		}
		r.Stages = append(r.Stages, s)
	}
	r.Evaluation = json.RawMessage(`{"stdout":"` + strings.Repeat("o", 200_000) + `","device":"CPU"}`)
	r.Artifacts = []job.Artifact{{Name: "profile.0.ncu-rep.gz", Size: 3 << 20, Data: make([]byte, 3<<20)}}
	return r
}

func TestFitMakesAnyResultFit(t *testing.T) {
	for _, size := range []int{16 << 20, 4 << 20, 1 << 20, 512 << 10} {
		r := bulky()
		fit(&r, size)
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

func TestFitLeavesAloneWhatFits(t *testing.T) {
	r := bulky()
	fit(&r, 64<<20)
	if !reflect.DeepEqual(r, bulky()) {
		t.Error("the result has changed")
	}
}

func TestFitDoesNotChangeWhatOthersHold(t *testing.T) {
	r := bulky()
	held := r.Stages
	fit(&r, 512<<10)
	if !reflect.DeepEqual(held, bulky().Stages) {
		t.Error("the stages that were there before have changed")
	}
}

func TestCutKeepsBothEndsAndCharactersWhole(t *testing.T) {
	for _, limit := range []int{0, 1, 30, 31, 32, 33, 34, 50, 100} {
		got := cut("begin "+strings.Repeat("é", 200)+" end", limit)
		if !utf8.ValidString(got) || !strings.Contains(got, "bytes cut") || len(got) > limit+40 {
			t.Errorf("limit %d: %q", limit, got)
		}
		if limit == 100 && (!strings.HasPrefix(got, "begin é") || !strings.HasSuffix(got, "é end")) {
			t.Errorf("limit %d: %q", limit, got)
		}
	}
	if got := cut("short", 5); got != "short" {
		t.Errorf("got %q", got)
	}
}

// likeReport is a report as large as those of programs with torch, which packs as well as they do.
func likeReport(seed uint64) []byte {
	random := rand.NewChaCha8([32]byte{byte(seed)})
	data := bytes.Repeat([]byte("smsp__sass_thread_inst_executed_op_ffma_pred_on "), 7_000_000/48)
	for i := 0; i < len(data); i += 96 {
		random.Read(data[i : i+5]) // never fails
	}
	return data
}

func TestReportFilesOfThreeCasesArriveWhole(t *testing.T) {
	r := job.Result{RunID: 1, AttemptID: "a1", Outcome: job.OutcomeDone, Stages: []job.StageResult{{Stage: job.StageProfile}}}
	for i := range 3 {
		files, err := reportArtifacts(i, &ncu.Report{}, likeReport(uint64(i)))
		if err != nil {
			t.Fatal(err)
		}
		r.Artifacts = append(r.Artifacts, files...)
	}
	fit(&r, queue.MaxMessage)
	var arrived job.Result
	if data, err := json.Marshal(r); err != nil || len(data) > queue.MaxMessage || json.Unmarshal(data, &arrived) != nil {
		t.Fatalf("a message of %d bytes, %v", len(data), err)
	}
	for i := range 3 {
		a := arrived.Artifacts[2*i+1]
		if a.Name != fmt.Sprintf("profile.%d.ncu-rep.gz", i) || a.Size != int64(len(a.Data)) || a.Size > 1_000_000 {
			t.Errorf("case %d: %s with %d of %d bytes", i, a.Name, len(a.Data), a.Size)
			continue
		}
		z, err := gzip.NewReader(bytes.NewReader(a.Data))
		if err != nil {
			t.Fatal(err)
		}
		if report, err := io.ReadAll(z); err != nil || !bytes.Equal(report, likeReport(uint64(i))) {
			t.Errorf("case %d: the report is another, %v", i, err)
		}
	}
}
