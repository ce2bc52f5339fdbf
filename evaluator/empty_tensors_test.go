package evaluator_test

import "testing"

// TestTensorsWithoutElementsAreHandedOver checks that empty tensors can be inputs and outputs of a kernel.
func TestTensorsWithoutElementsAreHandedOver(t *testing.T) {
	w := evaluations.on(t)
	type fields = map[string]any
	empty := fields{"shape": []int{0, 3}, "init": fields{"kind": "randn"}}
	code := torch("import torch\ndef f(x, y):\n    return x * 2, y * 2, torch.empty(2, 0, 5, dtype=torch.int16)\n")
	code["metadata"] = fields{"function_name": "f"}
	code["io"] = fields{"args": []fields{{"name": "x", "type": "tensor", "tensor_spec": empty},
		{"name": "y", "type": "tensor", "tensor_spec": fields{"shape": []int{4}, "init": fields{"kind": "ones"}}}}}
	for _, name := range []string{"alone", "beside a reference"} {
		request := evaluateOne(t, code)
		if name != "alone" {
			request = compare(t, code, code)
		}
		if r := evaluateOn(t, w, request); !r.Correctness || len(r.Times) != 3 {
			t.Errorf("%s: %+v", name, r)
		}
	}
}
