package playground

import (
	"os"
	"strings"
	"testing"
	"time"

	"warpboard/evaluator/kernelrun"
	"warpboard/tasks"
)

// TestEveryExampleBecomesATask converts each example of the playground to a task and reads its zip as an upload would
// be read. If the variable WARPBOARD_TASKS names a folder, the test writes the zips there, for verify-task.
func TestEveryExampleBecomesATask(t *testing.T) {
	for _, name := range exampleNames() {
		form := newForm()
		form.fillFromExample(name)
		request, ok := form.parseRequest(kernelrun.DefaultLimits())
		if !ok {
			t.Fatal(form.problems)
		}
		packed, err := packTask(taskFiles(request))
		if err != nil {
			t.Fatal(err)
		}
		upload, err := tasks.OpenFile(name+".zip", packed)
		if err != nil {
			t.Fatal(err)
		}
		list, err := upload.Proposals(time.Now())
		if err != nil || len(list) != 1 || list[0].Err != nil {
			t.Fatalf("%s: %v, %v", name, list, err)
		}
		if text := string(list[0].Bundle.Files["reference.py"]); strings.Contains(text, "torch.)") ||
			strings.Contains(text, "nil") {
			t.Errorf("%s: the reference is %s", name, text)
		}
		if w := list[0].Bundle.Warnings; len(w) > 0 {
			t.Errorf("%s: %v", name, w)
		}
		template, _ := list[0].Bundle.Template("Python")
		if !strings.Contains(string(template), "def custom_kernel(data") {
			t.Errorf("%s: the template is %s", name, template)
		}
		if dir := os.Getenv("WARPBOARD_TASKS"); dir != "" {
			if err := os.WriteFile(dir+"/"+name+".zip", packed, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestInputsAreTheArgumentsThatAreGiven(t *testing.T) {
	spec := func(dtype string, init map[string]any) map[string]any {
		return map[string]any{"shape": []any{4, 8}, "dtype": dtype, "init": init}
	}
	got := generateInputLines(map[string]any{"args": []any{
		map[string]any{"name": "x", "type": "tensor", "role": "input",
			"tensor_spec": spec("float16", map[string]any{"kind": "uniform", "low": -1})},
		map[string]any{"name": "z", "type": "tensor", "role": "input",
			"tensor_spec": spec("complex64", map[string]any{"kind": "uniform", "low": -1})},
		map[string]any{"name": "out", "type": "tensor", "role": "output", "tensor_spec": spec("float32", nil)},
		map[string]any{"name": "class 1", "type": "bool", "value": true},
		map[string]any{"name": "BLOCK", "type": "int", "value": 64, "is_meta": true},
	}})
	want := "    x = torch.rand((4, 8,), device=device, generator=generator).mul(1 - -1).add(-1).to(torch.float16)\n" +
		"    z = torch.rand((4, 8,), dtype=torch.complex64, device=device, generator=generator).mul(1 - -1).add((1 + 1j) * -1)\n" +
		"    argument_3 = True\n    return (x, z, argument_3,)"
	if got != want {
		t.Errorf("generate_input is\n%s\nwant\n%s", got, want)
	}
}
