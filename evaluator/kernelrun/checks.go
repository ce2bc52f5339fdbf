package kernelrun

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"warpboard/tasks"
)

// checkTolerance returns problems with numbers that no tolerance has.
func checkTolerance(at path, _, read map[string]any) (problems []Problem) {
	for _, word := range []string{"atol", "rtol", "matched", "max_error"} {
		if n, ok := read[word].(float64); ok {
			if why := tasks.CheckToleranceWord(word, n); why != "" {
				problems = append(problems, at.to(word).problem("value_error", "Value error, "+word+" "+why)...)
			}
		}
	}
	return problems
}

// checkComparison checks the words of a comparison's tolerance. matched is a newer name of required_matched_ratio.
func checkComparison(at path, given, read map[string]any) []Problem {
	if matched := read["matched"]; matched != nil {
		if given["required_matched_ratio"] != nil && read["required_matched_ratio"] != matched {
			return at.to("matched").problem("value_error", "Value error, matched and required_matched_ratio are the same: give one of them")
		}
		read["required_matched_ratio"] = matched
	}
	read["fitting"] = given["atol"] == nil && given["rtol"] == nil
	// The older fields have their own refusals, which clients compare.
	return checkTolerance(at, nil, map[string]any{"matched": read["matched"], "max_error": read["max_error"]})
}

// checkArgument converts a scalar's value to the argument's type, and returns problems with missing fields.
func checkArgument(at path, given, arg map[string]any) []Problem {
	switch {
	case arg["type"] == "tensor" && arg["tensor_spec"] == nil:
		return at.to("tensor_spec").problem("missing", fmt.Sprintf("Tensor argument '%s' requires tensor_spec", arg["name"]))
	case arg["type"] == "tensor":
		return nil
	case arg["value"] == nil:
		return at.to("value").problem("missing", fmt.Sprintf("Scalar argument '%s' requires value", arg["name"]))
	}
	var of kind
	switch arg["type"] {
	case "int":
		of = integer{}
	case "float":
		of = number{}
	case "bool":
		of = boolean{}
	default: // any scalar can be text
		return nil
	}
	value, problems := of.read(at.to("value"), given["value"])
	arg["value"] = value
	return problems
}

// checkCode moves a kernel's name to its metadata, and returns problems with arguments that the kernel type does not
// support. A kernel that launches itself ignores the launch configuration.
func checkCode(at path, _, code map[string]any) []Problem {
	io, _ := code["io"].(map[string]any)
	if io == nil || code["kernel_type"] != "triton" && code["kernel_type"] != "cuda" {
		return nil
	}
	at = at.to("io")
	problems := moveKernelName(at.to("launch").to("kernel_name"), code, io)
	if code["kernel_type"] == "triton" {
		problems = append(problems, complexArguments(at.to("args"), io)...)
	}
	return problems
}

// moveKernelName moves the kernel's name from the launch configuration to the metadata, where all other code reads it.
func moveKernelName(at path, code, io map[string]any) []Problem {
	launch, _ := io["launch"].(map[string]any)
	name, _ := launch["kernel_name"].(string)
	delete(launch, "kernel_name")
	if name == "" {
		return nil
	}
	metadata, _ := code["metadata"].(map[string]any)
	if other := metadata["kernel_name"]; other != nil && other != name {
		return at.problem("value_error", fmt.Sprintf("Value error, '%s' is not the kernel_name of metadata, '%v': give one of them", name, other))
	}
	changed := map[string]any{} // not the caller's own map
	maps.Copy(changed, metadata)
	changed["kernel_name"] = name
	code["metadata"] = changed
	return nil
}

// complexArguments refuses complex arguments, which Triton does not support.
func complexArguments(at path, io map[string]any) (problems []Problem) {
	args, _ := io["args"].([]any)
	for i, arg := range args {
		at := at.to(strconv.Itoa(i)).to("tensor_spec")
		spec, _ := arg.(map[string]any)["tensor_spec"].(map[string]any)
		if data, ok := spec["data"].(map[string]any); ok { // its dtype counts
			at, spec = at.to("data"), data
		}
		if dtype, _ := spec["dtype"].(string); strings.HasPrefix(dtype, "complex") {
			problem := at.to("dtype").problem("value_error", fmt.Sprintf("Value error, %s is known, but unsupported by triton kernels", dtype))[0]
			problem.Hint = "pass the real and the imaginary parts as floats"
			problems = append(problems, problem)
		}
	}
	return problems
}
