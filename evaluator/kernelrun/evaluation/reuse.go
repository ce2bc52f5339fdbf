package evaluation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// share of a reference's content that a kernel may have at most: one that contains the answers to an eighth of its calls shows the times
// of the others.
const share = 8

// kept is what the judge says of a reference.
type kept struct {
	Calls   int64 // that were timed; 0: the reference cannot be kept
	Content int64 // bytes that a source needs at least to contain the answers to its calls
}

// testReusing tests the custom kernel beside a reference that the program's judge keeps. If it keeps none, the reference runs
// alone before, in a stage of its own. The result is nil if it cannot be kept, or if the kernel could contain its answers: both kernels
// then have to run, which also tells why a reference does not run.
func (e *Evaluation) testReusing(ctx context.Context, program toolchain.Program) (*kernelrun.Result, error) {
	key, size := referenceKey(e.request), int64(len(jsonOf(e.request.Custom)))
	if key == "" {
		return nil, nil
	}
	for recorded := false; ; recorded = true {
		if k := e.kept[key]; k.Calls >= e.request.NumTrials && k.Content >= share*size {
			result, err := e.recall(ctx, program, key)
			if result != nil && recorded {
				result.ReusedReference = nil // it ran in this evaluation
			}
			if result != nil || err != nil {
				return result, err
			}
		}
		if k, known := e.kept[key]; recorded || known && (k.Calls == 0 || k.Calls >= e.request.NumTrials) {
			return nil, nil
		}
		if err := e.record(ctx, program, key); err != nil {
			return nil, err
		}
	}
}

// record runs the reference alone, which the judge then keeps or not. It has a quarter of the time: if it takes longer, the rest is for
// both kernels.
func (e *Evaluation) record(ctx context.Context, program toolchain.Program, key string) error {
	e.begin(kernelrun.StageCompiling)
	report := e.newReader(func(string) {})
	req := e.reusing(modeRecord, key, refLabel)
	req.Timeout /= 4
	req.Files[limitFile] = fmt.Append(nil, req.Timeout.Seconds())
	_, err := e.run(ctx, program, report, req)
	if e.kept = report.references; e.kept == nil { // the judge ended, and keeps nothing
		e.kept = map[string]kept{key: {}}
	}
	return err
}

// recall tests the custom kernel; the result is nil if the judge does not keep the reference any more.
func (e *Evaluation) recall(ctx context.Context, program toolchain.Program, key string) (*kernelrun.Result, error) {
	report := e.newReader(e.begin)
	out, err := e.run(ctx, program, report, e.reusing(modeRecall, key, customLabel))
	if err != nil {
		return nil, err
	}
	e.kept = report.references
	if report.lost {
		return nil, nil
	}
	result, err := concluded(report, out)
	return &result, err
}

// reusing describes a stage with one of the two kernels, which leaves nothing compiled for the other.
func (e *Evaluation) reusing(mode, key, label string) toolchain.StageRequest {
	req := e.stage(mode, label)
	req.Files[keyFile] = []byte(key)
	req.Forget = true
	return req
}

// referenceKey is equal for requests whose references get the same inputs under the same conditions, on one device and with one
// program. It is empty if the reference cannot be kept, because the inputs come from the other kernel's source, or because elements may
// be wrong.
func referenceKey(r kernelrun.Request) string {
	from := inputsFrom(r)
	if from == customLabel || r.Matched < 1 { // few of the elements are compared, and the share of wrong ones varies in them
		return ""
	}
	var contract map[string]any
	if from == "" && r.Ref.IO == nil { // it is called by the other kernel's contract
		contract = r.Custom.IO
	}
	hash := sha256.Sum256(jsonOf(struct {
		Ref        *kernelrun.Code
		Contract   map[string]any
		L2Flush    bool
		ATol, RTol float64 // its content depends on them
	}{r.Ref, contract, r.L2Flush, r.ATol, r.RTol}))
	return hex.EncodeToString(hash[:])
}
