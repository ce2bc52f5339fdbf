package playground

import (
	"testing"

	"warpboard/evaluator/kernelrun"
)

func TestEveryExampleIsARequest(t *testing.T) {
	for _, name := range exampleNames() {
		form := newForm()
		form.fillFromExample(name)
		request, ok := form.parseRequest(kernelrun.DefaultLimits())
		if !ok || request.Kind != kernelrun.KindCompare || request.CustomKernel.KernelType != name {
			t.Errorf("%s: %v, %+v", name, form.problems, request)
			continue
		}
		for _, arg := range request.CustomKernel.IOContract["args"].([]any) {
			arg := arg.(map[string]any)
			if spec, _ := arg["tensor_spec"].(map[string]any); arg["role"] == "output" && spec["init"] != nil {
				t.Errorf("%s: an output is filled with %v", name, spec["init"])
			}
		}
	}
}
