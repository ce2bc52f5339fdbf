package evaluation

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// stage returns a stage with the processes of the given kernels.
func (e *Evaluation) stage(mode string, labels ...string) toolchain.StageRequest {
	limit := max(time.Until(e.deadline), time.Millisecond)
	req := toolchain.StageRequest{
		Mode: mode, Timeout: limit,
		Files: map[string][]byte{requestFile: e.requestJSON, limitFile: fmt.Append(nil, limit.Seconds())},
	}
	for _, label := range labels {
		req.Processes = append(req.Processes, e.process("kernel", label))
	}
	if label := inputsProcess(e.request); label != "" {
		req.Processes = append(req.Processes, e.process("inputs", label))
	}
	return req
}

// process returns the process of one kernel. It contains nothing of the other kernel: not its source, which it could
// run instead of its own, not its compiled form, and not an extension with the same name, which would replace its own.
func (e *Evaluation) process(role, label string) toolchain.Process {
	files := map[string][]byte{kernelRequestFile: ownRequest(e.request, e.Job.Device, label)}
	maps.Copy(files, filesBeside(e.request)[label+"_kernel.py"])
	if text := e.precompiled.compiled[label]; text != "" {
		files[CompiledFile] = jsonOf(map[string]string{label: text})
	}
	code := codeOf(e.request, label)
	return toolchain.Process{Arguments: []string{role, label}, File: label + "_kernel.py", Files: files,
		Prepare: []string{role, code.Type}, Unprepared: setsUp(code.Text())}
}

// setsUp reports whether a source may change what is read once, when a process begins to use a device: variables of the
// environment, and PyTorch's allocator.
func setsUp(source string) bool {
	words := []string{"environ", "putenv", "setenv", "change_current_allocator"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(source, word) })
}

// ownRequest returns the part of the request for the process of one kernel: the kernel, and the other kernel's contract
// if that describes the inputs of both.
func ownRequest(r kernelrun.Request, device, label string) []byte {
	kernel, other := *codeOf(r, label), codeOf(r, otherLabel(label))
	if kernel.IO == nil && other != nil && inputsFrom(r) == "" {
		kernel.IO = other.IO
	}
	return jsonOf(struct {
		Device string         `json:"device"`
		Kernel kernelrun.Code `json:"kernel"`
		Draws  bool           `json:"draws"` // this kernel's get_inputs generates the inputs
		Init   bool           `json:"init"`  // the judge sends the arguments of its class
	}{device, kernel, inputsFrom(r) == label, label == customLabel && constructedFromInputs(r)})
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
		panic(err) // cannot happen: the request was read from JSON
	}
	return text
}
