package playground

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/job"
	"warpboard/evaluator/kernelrun"
	"warpboard/views"
	"warpboard/web/site"
)

const maxArguments = 64 // rows of the form; a JSON contract may hold more

// form has the values of the playground's form, and the problems of its fields.
type form struct {
	fields   map[string]string
	rows     int
	problems map[string]string
	argRows  []int // row of each argument of the request
}

func newForm() *form {
	return &form{rows: views.PlaygroundRows, problems: map[string]string{}, fields: map[string]string{
		"kernel_type": "triton", "num_trials": "100", "timeout": "120", "atol": "0.01", "rtol": "0.01", "l2_flush": "true",
	}}
}

func readFields(c *fiber.Ctx) (*form, error) {
	f, size := &form{fields: map[string]string{}, problems: map[string]string{}}, 0
	for name, value := range c.Request().PostArgs().All() {
		if size += len(name) + len(value); size > site.MaxFormText {
			return nil, site.TooMuchText("Send a larger request to POST /evaluate.")
		}
		f.fields[string(name)] = strings.ReplaceAll(string(value), "\r\n", "\n") // forms send line ends like this
	}
	f.rows, _ = strconv.Atoi(f.fields["rows"]) // not a number: no rows
	f.rows = min(max(f.rows, 1), maxArguments)
	return f, nil
}

// get returns a field without leading and trailing spaces.
func (f *form) get(name string) string { return strings.TrimSpace(f.fields[name]) }

func (f *form) status() int {
	if len(f.problems) > 0 {
		return fiber.StatusUnprocessableEntity
	}
	return fiber.StatusOK
}

// request reads the form as a request of the evaluation API. If ok is false, f.problems has the reasons.
func (f *form) request(bounds kernelrun.Bounds) (request kernelrun.Request, ok bool) {
	kind, body := f.body()
	for name, text := range f.fields {
		if valid := strings.ToValidUTF8(text, ""); len(valid) != len(text) {
			f.problems[name] = "This is not UTF-8 text."
		}
	}
	if len(f.problems) > 0 {
		return request, false
	}
	request, problems := kernelrun.Read(kind, body, kernelrun.RefuseAll)
	for _, problem := range problems {
		name, within := f.fieldOf(problem.Field)
		f.problems[name] = within + problem.Sentence()
	}
	if len(problems) == 0 {
		if err := request.Check(bounds); err != nil {
			f.recordProblems(err)
		}
	}
	return request, len(f.problems) == 0
}

// recordProblems records the error of a request at its fields. It reports whether the request caused the error.
func (f *form) recordProblems(err error) bool {
	var refusal *kernelrun.Refusal
	if !errors.As(err, &refusal) {
		f.problems[""] = site.FailureOf(err).Message
		return false
	}
	name := ""
	for _, field := range []string{"num_trials", "timeout", "gpu_type"} {
		if _, about := refusal.Details[field]; about {
			name = field
		}
	}
	f.problems[name] = refusal.Message + "."
	return true
}

// body returns the body of the equivalent API request.
func (f *form) body() (kernelrun.Kind, map[string]any) {
	body := map[string]any{"l2_flush": f.get("l2_flush") == "true", "collect_device_metrics": f.get("collect_device_metrics") == "true",
		"shared": f.get("shared") == "true"}
	for _, name := range []string{"num_trials", "timeout", "gpu_type"} {
		if value := f.get(name); value != "" {
			body[name] = value
		}
	}
	if f.get("kernel") == "" {
		f.problems["kernel"] = "Paste a kernel here."
	}
	io := f.contract()
	if f.get("reference") == "" {
		body["kernel"] = f.code("kernel", io)
		return kernelrun.Evaluate, body
	}
	body["custom_kernel"] = f.code("kernel", io)
	if f.get("reference_contract") != "" {
		io = f.json("reference_contract")
	}
	body["ref_kernel"] = f.code("reference", io)
	for _, name := range []string{"atol", "rtol"} {
		if value := f.get(name); value != "" {
			body[name] = value
		}
	}
	return kernelrun.Compare, body
}

// nameKeys maps each kind of kernel to the metadata key that has the kernel's name. torch_cuda has none.
var nameKeys = map[string]string{"torch": "function_name", "triton": "kernel_name", "cuda": "kernel_name", "multi_kernel": "entry_point"}

func (f *form) code(field string, io any) map[string]any {
	kernelType := f.get(field + "_type")
	code := map[string]any{"source_code": f.fields[field], "kernel_type": kernelType}
	if io != nil {
		code["io"] = io
	}
	metadata := map[string]any{}
	if f.get(field+"_metadata") != "" {
		read, ok := f.json(field + "_metadata").(map[string]any)
		if !ok && f.problems[field+"_metadata"] == "" {
			f.problems[field+"_metadata"] = `Write an object: {"class_name": "Model"}.`
		}
		for key, value := range read {
			metadata[key] = value
		}
	}
	if key := nameKeys[kernelType]; key != "" && f.get(field+"_name") != "" {
		metadata[key] = f.get(field + "_name")
	}
	if len(metadata) > 0 {
		code["metadata"] = metadata
	}
	return code
}

// json parses a field that contains JSON.
func (f *form) json(name string) any {
	if job.ExceedsValues([]byte(f.get(name)), site.MaxJSONValues) {
		f.problems[name] = fmt.Sprintf("This has more than %d values.", site.MaxJSONValues)
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(f.get(name)))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil && decoder.More() {
		err = errors.New("there is text after its end")
	}
	if err != nil {
		f.problems[name] = fmt.Sprintf("This is not JSON, near character %d: %v.", decoder.InputOffset(), err)
		return nil
	}
	return value
}

// initNumbers maps each way of filling a tensor to the API parameters for the two numbers of a row.
var initNumbers = map[string][]string{"randn": {"mean", "std"}, "uniform": {"low", "high"}, "full": {"fill_value"}, "arange": {"start", "step"}}

// fieldOf returns the form field for a path of the API's request. within is the remaining path if the field contains
// several values.
func (f *form) fieldOf(path string) (field, within string) {
	steps := strings.Split(path, " -> ")
	from := map[string]string{"kernel": "kernel", "custom_kernel": "kernel", "ref_kernel": "reference"}[steps[0]]
	switch {
	case from == "":
		return steps[0], ""
	case len(steps) == 1 || steps[1] == "source_code":
		return from, ""
	case steps[1] != "io":
		return from + "_" + strings.TrimPrefix(steps[1], "kernel_"), ""
	}
	inJSON := strings.Join(steps[2:], ".") + ": "
	if from == "reference" && f.get("reference_contract") != "" {
		return "reference_contract", inJSON
	}
	if f.get("contract") != "" || len(steps) < 4 {
		return "contract", inJSON
	}
	if steps[2] != "args" {
		return strings.Join(steps[2:], "-"), ""
	}
	index, err := strconv.Atoi(steps[3])
	if err != nil || index >= len(f.argRows) || len(steps) < 5 {
		return "contract", inJSON
	}
	return views.ArgumentField(f.argRows[index], argumentField(steps[4:])), ""
}

// argumentField returns the field of a row for a path inside an argument.
func argumentField(steps []string) string {
	if steps[0] != "tensor_spec" || len(steps) == 1 {
		return steps[0]
	}
	if steps[1] != "init" || len(steps) == 2 {
		return steps[1]
	}
	for _, names := range initNumbers {
		for i, name := range names {
			if name == steps[2] {
				return []string{"first", "second"}[i]
			}
		}
	}
	return steps[2]
}
