package playground

import (
	"archive/zip"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/models/db"
	"warpboard/web/site"
)

// previewTask converts the form to a draft of a task and shows its preview. The reference must be a PyTorch function,
// because the task's harness calls it from Python. The kernel becomes the task's template if it is a PyTorch function,
// otherwise the reference does.
func (p *Playground) previewTask(c *fiber.Ctx, form *playgroundForm) error {
	request, ok := form.parseRequest(p.evaluations.EvalLimits.RequestLimits)
	if ok && (request.RefKernel == nil || request.RefKernel.KernelType != "torch" ||
		functionName(*request.RefKernel) == "") {
		form.problems["reference"], ok = "A task needs a reference that is a PyTorch function: def softmax(x): …", false
	}
	if !ok {
		return p.showPlayground(c, form.responseStatus(), form)
	}
	name := db.Slug(functionName(*request.RefKernel))
	packed, err := packTask(taskFiles(request))
	if err != nil {
		return err
	}
	return site.SendAttachment(c, cmp.Or(name, "task")+".zip", packed)
}

func packTask(files map[string]string) ([]byte, error) {
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for _, name := range []string{"task.yml", "task.py", "reference.py", "template.py"} {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(files[name]))
		}
		if err != nil {
			return nil, fmt.Errorf("packing %s of a task: %w", name, err)
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

var (
	functionDefinition = regexp.MustCompile(`(?m)^def ([A-Za-z_]\w*)\(`)
	identifierPattern  = regexp.MustCompile(`^[A-Za-z_]\w*$`)
)

// functionName returns the function name of a PyTorch kernel, or "" for a model or if the name is missing.
func functionName(code kernelrun.KernelCode) string {
	if name, ok := code.Metadata[kernelNameKeys["torch"]].(string); ok && name != "" {
		return name
	}
	if all := functionDefinition.FindAllStringSubmatch(code.Source, -1); len(all) > 0 {
		return all[len(all)-1][1]
	}
	return ""
}

func taskFiles(r kernelrun.Request) map[string]string {
	function, begin := functionName(*r.RefKernel), *r.RefKernel
	if r.CustomKernel.KernelType == "torch" && functionName(r.CustomKernel) != "" {
		begin = r.CustomKernel
	}
	return map[string]string{
		"task.yml": fmt.Sprintf(taskYAMLTemplate, jsonString(function), function, decimalText(r.ATol),
			decimalText(r.RTol)),
		"task.py": taskPythonTemplate,
		"reference.py": fmt.Sprintf(referencePY, r.RefKernel.Source, generateInputLines(r.CustomKernel.IOContract),
			function),
		"template.py": fmt.Sprintf(templatePY, begin.Source, functionName(begin)),
	}
}

// generateInputLines returns the Python lines of generate_input, one per argument.
func generateInputLines(io map[string]any) string {
	var lines, names []string
	args, _ := io["args"].([]any) // nil if the kernel has no arguments
	for i, given := range args {
		arg, _ := given.(map[string]any) // always a map, because parseRequest checked the contract
		if arg["role"] == "output" || arg["is_meta"] == true {
			continue
		}
		name, _ := arg["name"].(string)
		if !identifierPattern.MatchString(name) || name == "seed" || name == "device" || name == "generator" {
			name = fmt.Sprintf("argument_%d", i)
		}
		value := jsonString(arg["value"])
		if spec, ok := arg["tensor_spec"].(map[string]any); ok {
			value = tensorExpression(spec)
		} else if arg["type"] == "bool" {
			value = map[string]string{"true": "True", "false": "False"}[value]
		}
		lines, names = append(lines, fmt.Sprintf("    %s = %s\n", name, value)), append(names, name+",")
	}
	return strings.Join(lines, "") + "    return (" + strings.Join(names, " ") + ")"
}

// tensorExpression returns a Python expression that creates a tensor. Missing parameters get the API's defaults.
func tensorExpression(spec map[string]any) string {
	name, _ := spec["dtype"].(string)
	shape, dtype := shapeText(spec["shape"]), "torch."+cmp.Or(name, "float32")
	init, _ := spec["init"].(map[string]any)
	number := func(name, otherwise string) string {
		if v := init[name]; v != nil {
			return fmt.Sprint(v)
		}
		return otherwise
	}
	drawn := shape + ", device=device, generator=generator)"
	isComplex := strings.HasPrefix(name, "complex")
	if isComplex { // randn must draw complex numbers; converting real ones would make all imaginary parts 0
		drawn = shape + ", dtype=" + dtype + ", device=device, generator=generator)"
	}
	switch init["kind"] {
	case "uniform":
		low, high := number("low", "0"), number("high", "1")
		if isComplex {
			return fmt.Sprintf("torch.rand(%s.mul(%s - %s).add((1 + 1j) * %s)", drawn, high, low, low)
		}
		return fmt.Sprintf("torch.rand(%s.mul(%s - %s).add(%s).to(%s)", drawn, high, low, low, dtype)
	case "zeros", "ones", "full":
		value := map[any]string{"zeros": "0", "ones": "1", "full": number("fill_value", "0")}[init["kind"]]
		return fmt.Sprintf("torch.full(%s, %s, dtype=%s, device=device)", shape, value, dtype)
	case "arange":
		return fmt.Sprintf("torch.arange(%s[-1], device=device).mul(%s).add(%s).expand(%s).contiguous().to(%s)", shape, number("step", "1"), number("start", "0"), shape, dtype)
	}
	if !strings.Contains(dtype, "float") && !isComplex {
		return fmt.Sprintf("torch.randint(-128, 128, %s.to(%s)", drawn, dtype)
	}
	return fmt.Sprintf("torch.randn(%s.mul(%s).add(%s).to(%s)", drawn, number("std", "1"), number("mean", "0"), dtype)
}

func shapeText(shape any) string {
	extents, _ := shape.([]any) // always a list, because parseRequest checked the contract
	var out strings.Builder
	for _, extent := range extents {
		fmt.Fprintf(&out, "%v, ", extent)
	}
	return "(" + strings.TrimSuffix(out.String(), " ") + ")"
}

// jsonString encodes a value as JSON that is also valid Python and YAML.
func jsonString(value any) string {
	text, _ := json.Marshal(value) // cannot fail, because value was decoded from JSON
	return string(text)
}

const taskYAMLTemplate = `title: %s
lang: py

description: |
  Compute what ` + "`%s`" + ` of the reference computes.

files:
  - {name: task.py, source: task.py}
  - {name: reference.py, source: reference.py}
  - {name: submission.py, source: "@SUBMISSION@"}

templates:
  Python: template.py

tolerance: {atol: %s, rtol: %s}

tests:
  - {seed: 1001}
  - {seed: 2002}

benchmarks:
  - {seed: 3003}

ranking_by: geom
`

const taskPythonTemplate = `"""What one call gets and returns."""

import inspect

import torch

input_t = tuple
output_t = torch.Tensor


def call(function, data):
    """Calls a function with as many of the values as it has room for: all, else the tensors alone."""
    for values in (data, [value for value in data if isinstance(value, torch.Tensor)]):
        try:
            inspect.signature(function).bind(*values)
        except TypeError:
            continue
        return function(*values)
    raise TypeError(f"{function.__name__} cannot be called with {len(data)} values")
`

const referencePY = `import torch
from task import call, input_t, output_t

%s

def generate_input(seed: int) -> input_t:
    device = "cuda" if torch.cuda.is_available() else "cpu"
    generator = torch.Generator(device=device)
    generator.manual_seed(seed %% 2**63)
%s


def ref_kernel(data: input_t) -> output_t:
    return call(%s, data)
`

const templatePY = `import torch
from task import call, input_t, output_t

%s

def custom_kernel(data: input_t) -> output_t:
    return call(%s, data)
`
