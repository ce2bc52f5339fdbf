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
// kernel's source. A smaller source can contain the answers to at most an eighth of the calls, and the times of the
// other calls are then honest.
const minContentRatio = 8

// keptReference describes the measured calls of a reference that the judge keeps for later comparisons.
type keptReference struct {
	TimedCalls     int64 `json:"calls"`   // timed calls; 0 if the reference cannot be kept
	MinSourceBytes int64 `json:"content"` // minimum bytes of a source that contains the answers to its calls
}

// testWithReuse tests the custom kernel against a reference that the program's judge keeps. If it keeps none, the
// reference first runs alone in a separate stage. The result is nil, and both kernels must run, in three cases: the
// request does not allow it, the kernel's source is large enough to contain the answers, or the reference failed alone,
// which running both reports better.
func (e *Evaluation) testWithReuse(ctx context.Context, program toolchain.Program) (*kernelrun.Result, error) {
	key, size := referenceKey(e.request), int64(len(marshalPart(e.request.CustomKernel)))
	if key == "" {
		return nil, nil
	}
	for recorded := false; ; recorded = true {
		if k := e.keptReferences[key]; k.TimedCalls >= e.request.NumTrials && k.MinSourceBytes >= minContentRatio*size {
			result, err := e.testWithKeptReference(ctx, program, key)
			if result != nil && recorded {
				result.ReusedReference = nil // the reference was measured in this evaluation, not reused
			}
			if result != nil || err != nil {
				return result, err
			}
		}
		if k, known := e.keptReferences[key]; recorded ||
			known && (k.TimedCalls == 0 || k.TimedCalls >= e.request.NumTrials) {
			return nil, nil
		}
		if err := e.keepReference(ctx, program, key); err != nil {
			return nil, err
		}
	}
}

// keepReference runs the reference alone, so that the judge keeps it. The time limit is a quarter of the request's; if
// it is reached, the rest remains for both kernels.
func (e *Evaluation) keepReference(ctx context.Context, program toolchain.Program, key string) error {
	e.beginStage(kernelrun.StageCompiling)
	report := e.newReaderOfRequest(func(string) {})
	req := e.oneKernelStage(modeKeepReference, key, refLabel)
	req.Timeout /= 4
	req.Files[timeLimitFile] = fmt.Append(nil, req.Timeout.Seconds())
	_, err := e.runProgram(ctx, program, report, req)
	if e.keptReferences = report.keptReferences; e.keptReferences == nil { // the judge ended early, so nothing was kept
		e.keptReferences = map[string]keptReference{key: {}}
	}
	return err
}

// testWithKeptReference tests the custom kernel against the kept reference. The result is nil if the judge no longer
// keeps it, or if the kernel may have lacked memory because of the evaluation before.
func (e *Evaluation) testWithKeptReference(ctx context.Context, program toolchain.Program,
	key string) (*kernelrun.Result, error) {
	report := e.newReaderOfRequest(e.beginStage)
	out, err := e.runProgram(ctx, program, report, e.oneKernelStage(modeKeptReference, key, customLabel))
	if err != nil {
		return nil, err
	}
	e.keptReferences = report.keptReferences
	if report.referenceLost {
		return nil, nil
	}
	err = conclude(report, out)
	if err == nil && out.BesideEarlier && lackedMemory(report.result) {
		return nil, nil
	}
	return &report.result, err
}

// oneKernelStage returns a stage with only one of the two kernels.
func (e *Evaluation) oneKernelStage(mode, key, label string) toolchain.StageRequest {
	req := e.stageRequest(mode, label)
	req.Files[referenceKeyFile] = []byte(key)
	return req
}

// referenceKey returns a key of the request's reference kernel, with everything that its inputs and times depend on.
// If the keys of two requests on one device and in one program are equal, the second one can use the answers and times
// that the judge keeps from the first. The key is empty if the judge cannot keep the reference: because the custom
// kernel's source generates the inputs, or because some elements may be outside the tolerance (MinMatchedShare).
func referenceKey(r kernelrun.Request) string {
	from := inputGeneratorLabel(r)
	// With Matched below 1 the kept answers are not sufficient, because only a sample of their elements is kept.
	if from == customLabel || r.MinMatchedShare < 1 {
		return ""
	}
	var contract map[string]any
	if from == "" && r.RefKernel.IOContract == nil { // the custom kernel's contract describes the reference's arguments
		contract = r.CustomKernel.IOContract
	}
	hash := sha256.Sum256(marshalPart(struct {
		Ref        *kernelrun.KernelCode
		Contract   map[string]any
		L2Flush    bool
		ATol, RTol float64 // keptReference.MinSourceBytes depends on the tolerance
	}{r.RefKernel, contract, r.FlushL2, r.ATol, r.RTol}))
	return hex.EncodeToString(hash[:])
}
