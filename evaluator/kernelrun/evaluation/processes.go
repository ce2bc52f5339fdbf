package evaluation

import (
	"encoding/json"
	"fmt"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// stage describes one stage with the processes of some kernels.
func (e *Evaluation) stage(mode string, labels ...string) toolchain.StageRequest {
	limit := max(time.Until(e.deadline), time.Millisecond)
	req := toolchain.StageRequest{
		Mode: mode, Timeout: limit,
		Files: map[string][]byte{requestFile: e.text, limitFile: fmt.Append(nil, limit.Seconds())},
	}
	for _, label := range labels {
		req.Processes = append(req.Processes, e.process("kernel", label))
	}
	if label := inputsProcess(e.request); label != "" {
		req.Processes = append(req.Processes, e.process("inputs", label))
	}
	return req
}

// process has one kernel, and nothing of the other one: neither its source, which it could run in place of its own, nor what it
// was compiled to. An extension of another's would be taken for its own if it had the name.
func (e *Evaluation) process(role, label string) toolchain.Process {
	files := map[string][]byte{kernelRequestFile: ownRequest(e.request, e.Job.Device, label)}
	if text := e.precompiled.compiled[label]; text != "" {
		files[CompiledFile] = jsonOf(map[string]string{label: text})
	}
	return toolchain.Process{Arguments: []string{role, label}, File: label + "_kernel.py", Files: files}
}

// ownRequest is what the process of a kernel has of the request: the kernel, with the other one's contract if it has no inputs of its
// own and that says what they are.
func ownRequest(r kernelrun.Request, device, label string) []byte {
	kernel, other := *codeOf(r, label), codeOf(r, otherLabel(label))
	if kernel.IO == nil && other != nil && inputsFrom(r) == "" {
		kernel.IO = other.IO
	}
	return jsonOf(struct {
		Device string         `json:"device"`
		Kernel kernelrun.Code `json:"kernel"`
		Draws  bool           `json:"draws"` // as the process that draws the inputs, get_inputs is called
		Init   bool           `json:"init"`  // the judge sends what its class is made with
	}{device, kernel, inputsFrom(r) == label, label == customLabel && hasInit(r)})
}

func otherLabel(label string) string {
	if label == refLabel {
		return customLabel
	}
	return refLabel
}

func jsonOf(part any) []byte {
	text, err := json.Marshal(part)
	if err != nil {
		panic(err) // the request was read from JSON
	}
	return text
}
