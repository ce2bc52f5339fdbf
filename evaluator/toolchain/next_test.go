package toolchain

import (
	"testing"

	"warpboard/evaluator/job"
)

func TestTheNextBuildRunsInTheSameRunner(t *testing.T) {
	b := newBuilder()
	first := pyJob(t, "correct.py")
	req := StageRequest{Mode: "test", Cases: first.Task.Tests}
	a, _ := mustBuild(t, b, first)
	p := mustOpen(t, b, a)
	if r := runStage(t, p, req, len(req.Cases)); r.status != job.StatusPass {
		t.Fatalf("first build: %s (%s)", r.status, r.failure.Reason)
	}
	wrong, _ := mustBuild(t, b, pyJob(t, "wrong.py"))
	next := p.Next(wrong)
	if next == nil || !next.Warm() {
		t.Fatal("the runner was not handed over")
	}
	t.Cleanup(func() { next.Close() })
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	if r := runStage(t, next, req, len(req.Cases)); r.status != job.StatusFail {
		t.Errorf("second build: %s (%s)", r.status, r.failure.Reason)
	}
	again := next.Next(&Artifact{extensions: map[string][]byte{"submission.py": []byte("archive")}})
	if again == nil || again.Warm() {
		t.Fatal("compiled extensions were to go into a runner that has served others")
	}
	again.Close()
}
