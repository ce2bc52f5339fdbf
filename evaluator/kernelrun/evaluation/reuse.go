package evaluation

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// minContentRatio is the minimum ratio between the size of a kept reference's inputs and answers and the size of the
// kernel's source. A kernel that contains the answers of an eighth of its calls still shows the times of the others.
const minContentRatio = 8

// keptReference describes the measured calls of a reference that the judge keeps for later comparisons.
type keptReference struct {
	Calls   int64 // timed calls; 0 if the reference cannot be kept
	Content int64 // minimum bytes of a source that contains the answers to its calls
}

// testReusing tests the custom kernel against a reference that the program's judge keeps. If it keeps none, the
// reference first runs alone in a separate stage. The result is nil, and both kernels must run, in three cases: the
// request does not allow it, the kernel's source is large enough to contain the answers, or the reference failed alone,
// which running both reports better.
func (e *Evaluation) testReusing(ctx context.Context, program toolchain.Program) (*kernelrun.Result, error) {
	key, size := referenceKey(e.request), int64(len(jsonOf(e.request.CustomKernel)))
	if key == "" {
		return nil, nil
	}
	for recorded := false; ; recorded = true {
		if k := e.keptReferences[key]; k.Calls >= e.request.NumTrials && k.Content >= minContentRatio*size {
			result, err := e.recall(ctx, program, key)
			if result != nil && recorded {
				result.ReusedReference = nil // it ran in this evaluation
			}
			if result != nil || err != nil {
				return result, err
			}
		}
		if k, known := e.keptReferences[key]; recorded || known && (k.Calls == 0 || k.Calls >= e.request.NumTrials) {
			return nil, nil
		}
		if err := e.record(ctx, program, key); err != nil {
			return nil, err
		}
	}
}

// record runs the reference alone, so that the judge keeps it. The time limit is a quarter of the request's; if it is
// reached, the rest remains for both kernels.
func (e *Evaluation) record(ctx context.Context, program toolchain.Program, key string) error {
	e.begin(kernelrun.StageCompiling)
	report := e.newReader(func(string) {})
	req := e.reusing(modeRecord, key, refLabel)
	req.Timeout /= 4
	req.Files[limitFile] = fmt.Append(nil, req.Timeout.Seconds())
	_, err := e.run(ctx, program, report, req)
	if e.keptReferences = report.references; e.keptReferences == nil { // the judge ended, and keeps nothing
		e.keptReferences = map[string]keptReference{key: {}}
	}
	return err
}

// recall tests the custom kernel against the kept reference. The result is nil if the judge no longer keeps it.
func (e *Evaluation) recall(ctx context.Context, program toolchain.Program, key string) (*kernelrun.Result, error) {
	report := e.newReader(e.begin)
	out, err := e.run(ctx, program, report, e.reusing(modeRecall, key, customLabel))
	if err != nil {
		return nil, err
	}
	e.keptReferences = report.references
	if report.referenceLost {
		return nil, nil
	}
	result, err := resultOf(report, out)
	return &result, err
}

// reusing returns a stage with only one of the two kernels.
func (e *Evaluation) reusing(mode, key, label string) toolchain.StageRequest {
	req := e.stage(mode, label)
	req.Files[keyFile] = []byte(key)
	return req
}

// referenceKey returns a key that is equal for requests whose references get the same inputs under the same conditions,
// on one device and with one program. It is empty if the reference cannot be kept: because the other kernel's source
// generates the inputs, or because some elements may differ.
func referenceKey(r kernelrun.Request) string {
	from := inputsFrom(r)
	// With Matched below 1 the kept answers are not sufficient, because only a sample of their elements is kept.
	if from == customLabel || r.Matched < 1 {
		return ""
	}
	var contract map[string]any
	if from == "" && r.RefKernel.IO == nil { // the other kernel's contract describes its arguments
		contract = r.CustomKernel.IO
	}
	hash := sha256.Sum256(jsonOf(struct {
		Ref        *kernelrun.Code
		Contract   map[string]any
		L2Flush    bool
		ATol, RTol float64 // Content depends on them
	}{r.RefKernel, contract, r.L2Flush, r.ATol, r.RTol}))
	return hex.EncodeToString(hash[:])
}
