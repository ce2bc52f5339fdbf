package kernelrun

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"warpboard/tasks"
)

// checkTolerance returns problems with values that are not valid in a tolerance.
func checkTolerance(at keyPath, _, read map[string]any) (problems []Problem) {
	for _, word := range []string{"atol", "rtol", "matched", "max_error"} {
		if n, ok := read[word].(float64); ok {
			if why := tasks.CheckToleranceValue(word, n); why != "" {
				problems = append(problems, at.child(word).newProblem("value_error", "Value error, "+word+" "+why)...)
			}
		}
	}
	return problems
}

// checkComparison checks the fields of a comparison's tolerance. matched is a newer name of required_matched_ratio.
func checkComparison(at keyPath, given, read map[string]any) []Problem {
	if matched := read["matched"]; matched != nil {
		if given["required_matched_ratio"] != nil && read["required_matched_ratio"] != matched {
			return at.child("matched").newProblem("value_error", "Value error, matched and required_matched_ratio are the same: give one of them")
		}
		read["required_matched_ratio"] = matched
	}
	read["fitting"] = given["atol"] == nil && given["rtol"] == nil
	return checkTolerance(at, nil, read)
}

// checkArgument converts a scalar's value to the argument's type, and returns problems with missing fields.
func checkArgument(at keyPath, given, arg map[string]any) []Problem {
	switch {
	case arg["type"] == "tensor" && arg["tensor_spec"] == nil:
		return at.child("tensor_spec").newProblem("missing", fmt.Sprintf("Tensor argument '%s' requires tensor_spec", arg["name"]))
	case arg["type"] == "tensor":
		return nil
	case arg["value"] == nil:
		return at.child("value").newProblem("missing", fmt.Sprintf("Scalar argument '%s' requires value", arg["name"]))
	}
	var of valueKind
	switch arg["type"] {
	case "int":
		of = integerKind{}
	case "float":
		of = numberKind{}
	case "bool":
		of = booleanKind{}
	default: // type str accepts any scalar
		return nil
	}
	value, problems := of.read(at.child("value"), given["value"])
	arg["value"] = value
	return problems
}

// checkCode moves a kernel's name to its metadata, and returns problems with arguments that the kernel type does not
// support. Only triton and cuda kernels are checked: those of other types launch themselves and ignore the launch
// configuration.
func checkCode(at keyPath, _, code map[string]any) []Problem {
	if problems := checkFiles(at.child("source_files"), code); len(problems) > 0 {
		return problems
	}
	io, _ := code["io"].(map[string]any)
	if io == nil || code["kernel_type"] != "triton" && code["kernel_type"] != "cuda" {
		return nil
	}
	at = at.child("io")
	problems := moveKernelName(at.child("launch").child("kernel_name"), code, io)
	if code["kernel_type"] == "triton" {
		problems = append(problems, complexArguments(at.child("args"), io)...)
	}
	return problems
}

// checkFiles separates the main file from the additional ones. It returns problems with file names that a task's
// submission could not have either.
func checkFiles(at keyPath, code map[string]any) []Problem {
	files, _ := code["source_files"].(map[string]any)
	if files == nil {
		return nil
	}
	source, given := code["source_code"].(string)
	if !given {
		main := mainFileName(code["kernel_type"] == "cuda", files)
		if main == "" {
			return at.newProblem("value_error", "Value error, none of the files is known as the main one: call it main.py (cuda: main.cu), or send it as source_code")
		}
		source = files[main].(string)
		files = maps.Clone(files)
		delete(files, main)
	}
	texts := map[string]string{}
	for name, text := range files {
		texts[name] = text.(string)
	}
	code["source_code"], code["source_files"] = source, files
	s := tasks.SubmissionFromTexts(source, texts)
	err := tasks.CheckSubmission(s)
	if err == nil {
		allowed := tasks.Definition{Lang: tasks.LangPython, SubmissionFiles: []string{"*"}}
		err = (&tasks.Bundle{Definition: allowed}).CheckFiles(s.Names())
	}
	for _, name := range s.Names() {
		if module, ok := strings.CutSuffix(name, ".py"); ok && err == nil && slices.Contains(ProgramModules(), module) {
			err = fmt.Errorf("the file %q has the name of a module that evaluations import", name)
		}
	}
	if err != nil {
		return at.newProblem("value_error", "Value error, "+err.Error())
	}
	return nil
}

// mainFileName returns the name of the main file: main.py, submission.py, or the only file with that suffix; "" if
// there is none.
func mainFileName(isCUDA bool, files map[string]any) string {
	suffix := ".py"
	if isCUDA {
		suffix = ".cu"
	}
	for _, name := range []string{"main" + suffix, "submission" + suffix} {
		if files[name] != nil {
			return name
		}
	}
	var found []string
	for name := range files {
		if strings.HasSuffix(name, suffix) {
			found = append(found, name)
		}
	}
	if len(found) != 1 {
		return ""
	}
	return found[0]
}

// ProgramModules returns the names of the Python modules that the evaluation program consists of or creates.
func ProgramModules() []string {
	return []string{"absent", "cases", "compare", "compiled", "contract", "custom_kernel", "deciding", "evaluate", "inline", "inputs_kernel", "kernel_process", "kernels", "nvrtc",
		"outputs", "packing", "ref_kernel", "reusing", "seeding", "sides", "stages", "timekeeper", "timing", "trials", "trivial"}
}

// moveKernelName moves the kernel's name from the launch configuration to the metadata, where all other code reads it.
func moveKernelName(at keyPath, code, io map[string]any) []Problem {
	launch, _ := io["launch"].(map[string]any)
	name, _ := launch["kernel_name"].(string)
	delete(launch, "kernel_name")
	if name == "" {
		return nil
	}
	metadata, _ := code["metadata"].(map[string]any)
	if other := metadata["kernel_name"]; other != nil && other != name {
		return at.newProblem("value_error", fmt.Sprintf("Value error, '%s' is not the kernel_name of metadata, '%v': give one of them", name, other))
	}
	changed := map[string]any{} // a copy, because metadata belongs to the caller
	maps.Copy(changed, metadata)
	changed["kernel_name"] = name
	code["metadata"] = changed
	return nil
}

// complexArguments returns problems with complex arguments, which Triton does not support.
func complexArguments(at keyPath, io map[string]any) (problems []Problem) {
	args, _ := io["args"].([]any)
	for i, arg := range args {
		at := at.child(strconv.Itoa(i)).child("tensor_spec")
		spec, _ := arg.(map[string]any)["tensor_spec"].(map[string]any)
		if data, ok := spec["data"].(map[string]any); ok { // data has its own dtype, which takes precedence
			at, spec = at.child("data"), data
		}
		if dtype, _ := spec["dtype"].(string); strings.HasPrefix(dtype, "complex") {
			problem := at.child("dtype").newProblem("value_error", fmt.Sprintf("Value error, %s is known, but unsupported by triton kernels", dtype))[0]
			problem.Hint = "pass the real and the imaginary parts as floats"
			problems = append(problems, problem)
		}
	}
	return problems
}
