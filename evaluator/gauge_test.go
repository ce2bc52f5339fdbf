package evaluator_test

import (
	"testing"

	"warpboard/evaluator"
	"warpboard/evaluator/job"
)

// The numbers of any machine that these tests run on.
func plausible(t *testing.T, g job.Gauge) {
	t.Helper()
	if !g.Valid() || g.FloorNS > 1e6 || g.BytesPerSecond < 1e8 || g.BytesPerSecond > 1e13 || g.FlopsPerSecond < 1e8 || g.FlopsPerSecond > 1e15 ||
		g.ReadNS < 10*g.FloorNS || g.MathNS < 10*g.FloorNS {
		t.Errorf("this is no processor: %+v", g)
	}
	t.Logf("floor %v ns, %.3g B/s, %.3g FLOP/s", g.FloorNS, g.BytesPerSecond, g.FlopsPerSecond)
}

// It takes some seconds: nothing less shows that judge, compiler and kernels make numbers of a processor.
func TestAnIdleUnitIsGaugedByTheJudge(t *testing.T) {
	cfg := realConfig(t)
	cfg.Name, cfg.Conn = "w1", evaluator.NopConn{}
	w := evaluator.NewWorker(cfg)
	g, err := w.Gauge(t.Context(), cfg.Slots[0])
	if err != nil {
		t.Fatal(err)
	}
	plausible(t, g)
}
