package evaluation

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/evaluator/toolchain"
)

// stageRequest returns a stage with the processes of the given kernels.
func (e *Evaluation) stageRequest(mode string, labels ...string) toolchain.StageRequest {
	limit := max(time.Until(e.deadline), time.Millisecond)
	req := toolchain.StageRequest{
		Mode: mode, Timeout: limit,
		Files: map[string][]byte{requestFile: e.requestJSON, timeLimitFile: fmt.Append(nil, limit.Seconds())},
	}
	for _, label := range labels {
		req.Processes = append(req.Processes, e.kernelProcess("kernel", label))
	}
	if label := inputProcessLabel(e.request); label != "" {
		req.Processes = append(req.Processes, e.kernelProcess("inputs", label))
	}
	return req
}

// kernelProcess returns the process of one kernel. It contains nothing of the other kernel: not its source, which it
// could run instead of its own, not its compiled form, and not an extension with the same name, which would replace its
// own.
func (e *Evaluation) kernelProcess(role, label string) toolchain.StageProcess {
	files := map[string][]byte{kernelRequestFile: encodeKernelRequest(e.request, e.Job.Device, label)}
	maps.Copy(files, additionalFiles(e.request)[label+"_kernel.py"])
	if text := e.precompiled.compiledForms[label]; text != "" {
		files[CompiledFile] = marshalPart(map[string]string{label: text})
	}
	code := kernelByLabel(e.request, label)
	return toolchain.StageProcess{Arguments: []string{role, label}, SubmittedFile: label + "_kernel.py", Files: files,
		PrepareArguments: []string{role, code.KernelType}, NeedsNewProcess: changesDeviceSetup(code.JoinedText()),
		UsesOneStream: role == "inputs" || usesOneStream(e.request)}
}

// wordsOfStreams are in sources that use several streams, themselves or in a library.
var wordsOfStreams = regexp.MustCompile(`(?i)stream|graph|compile|lstm|gru|rnn|linalg`)

// usesOneStream reports whether each kernel of a request works in one stream of the device. Both must, because their
// contexts are compared, too. The program itself launches CUDA and Triton kernels.
func usesOneStream(r kernelrun.Request) bool {
	return !slices.ContainsFunc(kernelCodes(r), func(code *kernelrun.KernelCode) bool {
		isLaunched := code.KernelType == "cuda" || code.KernelType == "triton"
		return code.TorchCompile || !isLaunched && wordsOfStreams.MatchString(code.JoinedText())
	})
}

// changesDeviceSetup reports whether a source may change what is read once, when a process begins to use a device:
// variables of the environment, and PyTorch's allocator.
func changesDeviceSetup(source string) bool {
	words := []string{"environ", "putenv", "setenv", "change_current_allocator"}
	return slices.ContainsFunc(words, func(word string) bool { return strings.Contains(source, word) })
}

// encodeKernelRequest returns the part of the request for the process of one kernel: the kernel, and the other kernel's
// contract if that describes the inputs of both.
func encodeKernelRequest(r kernelrun.Request, device, label string) []byte {
	kernel, other := *kernelByLabel(r, label), kernelByLabel(r, otherKernelLabel(label))
	if kernel.IOContract == nil && other != nil && inputGeneratorLabel(r) == "" {
		kernel.IOContract = other.IOContract
	}
	return marshalPart(struct {
		Device string               `json:"device"`
		Kernel kernelrun.KernelCode `json:"kernel"`
		Draws  bool                 `json:"draws"` // this kernel's get_inputs generates the inputs
		Init   bool                 `json:"init"`  // the judge sends the constructor's arguments for the kernel's class
	}{device, kernel, inputGeneratorLabel(r) == label, label == customLabel && constructedFromInputs(r)})
}

func otherKernelLabel(label string) string {
	if label == refLabel {
		return customLabel
	}
	return refLabel
}

func marshalPart(part any) []byte {
	text, err := json.Marshal(part)
	if err != nil {
		panic(err) // cannot happen: the request was read from JSON
	}
	return text
}
