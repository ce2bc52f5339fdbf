package harness

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// debianPython is Debian's Python, which has NumPy.
const debianPython = "/usr/bin/python3"

// TestAnswersOfAnotherTypeAreNamed: if a kernel returns another type than the task requires, the checker's message
// names both types.
func TestAnswersOfAnotherTypeAreNamed(t *testing.T) {
	tests := []struct{ received, expected, want string }{
		{"floats", "floats", ""},
		{"[1.0, 1.0, 1.0]", "floats", "expected an array of float32, got a list of float numbers"},
		{"(1, 1, 1)", "floats", "expected an array of float32, got a tuple of int numbers"},
		{"floats + 0j", "floats", "expected an array of float32, got an array of complex64"},
		{"floats.astype('float64')", "floats", "expected an array of float32, got an array of float64"},
		{"floats.astype('float16')", "floats", "expected an array of float32, got an array of float16"},
		{"floats", "floats.astype('float64')", ""}, // a reference in double precision accepts single precision
		{"floats", "ints", "expected an array of int32, got an array of float32"},
		{"ints.astype('int64')", "ints", "expected an array of int32, got an array of int64"},
		{"ints", "floats", ""},
		{"ints", "ints.astype('int64')", ""},
		{"ints.astype('uint8')", "ints.astype('int64')", "expected an array of int64, got an array of uint8"},
		{"ints > 0", "ints", "expected an array of int32, got an array of bool"},
		{"ints > 0", "ints.astype('uint8')", ""},
		{"torch.Tensor('complex32', 4)", "torch.Tensor('complex64', 8)", "expected a tensor of complex64, got a tensor of complex32"},
		{"None", "floats", "expected an array of float32, got None"},
		{"'1'", "floats", "expected an array of float32, got a str"},
		{"{'y': floats}", "floats", "expected an array of float32, got a dict"},
		{"1.0", "floats", "expected an array of float32, got a float number"},
		{"1.0", "floats.sum() / 3", ""},
		{"1", "1.0", ""},
		{"floats[0]", "1.0", ""},
		{"1j", "1.0", "expected a float number, got a complex number"},
		{"[1, 2]", "[1, 2]", ""},
		{"[1, 2j]", "[1, 2]", "expected a list of int numbers, got a list of complex numbers"},
		{"[1, [2]]", "[1, 2]", "expected a list of int numbers, got a list of unlike parts"},
		{"(floats, floats)", "(floats, floats)", ""},
		{"torch.Tensor('float32', 4)", "torch.Tensor('float32', 4)", "same"},
		{"torch.Tensor('float64', 8)", "torch.Tensor('float32', 4)",
			"expected a tensor of float32, got a tensor of float64"},
		{"torch.Tensor('complex64', 8)", "torch.Tensor('float32', 4)",
			"expected a tensor of float32, got a tensor of complex64"},
		{"torch.Tensor('float8_e4m3fn', 1)", "torch.Tensor('bfloat16', 2)", "expected a tensor of bfloat16, got a tensor of float8_e4m3fn"},
		{"torch.Tensor('float16', 2)", "torch.Tensor('float32', 4)", "expected a tensor of float32, got a tensor of float16"},
		{"[1.0]", "torch.Tensor('bfloat16', 2)", "expected a tensor of bfloat16, got a list of float numbers"},
		{"floats", "torch.Tensor('float32', 4)", "expected a tensor of float32, got an array of float32"},
	}
	rounded := []struct{ received, expected, want string }{ // with a relative tolerance of 1 %
		{"floats.astype('float16')", "floats", ""},
		{"torch.Tensor('bfloat16', 2)", "torch.Tensor('float32', 4)", "same"},
		{"torch.Tensor('float8_e4m3fn', 1)", "torch.Tensor('bfloat16', 2)", "expected a tensor of bfloat16, got a tensor of float8_e4m3fn"},
		{"ints.astype('int8')", "ints", "expected an array of int32, got an array of int8"},
	}
	var cases [][3]any
	for i, test := range append(tests, rounded...) {
		rtol := 1e-5
		if i >= len(tests) {
			rtol = 0.01
		}
		cases = append(cases, [3]any{test.received, test.expected, rtol})
	}
	tests = append(tests, rounded...)
	input, err := json.Marshal(cases)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), debianPython, "-B", filepath.Join("testdata", "py", "answers.py"))
	cmd.Stdin = strings.NewReader(string(input))
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, err.(*exec.ExitError).Stderr)
	}
	var got [][]string
	if err := json.Unmarshal(out, &got); err != nil {
		t.Fatal(err)
	}
	for i, test := range tests {
		message := strings.Join(got[i], "\n")
		if test.want == "" && message != "" || test.want != "" && !strings.Contains(message, test.want) {
			t.Errorf("%s for %s: %q, want %q", test.received, test.expected, message, test.want)
		}
	}
}
