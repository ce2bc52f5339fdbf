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

// playgroundForm has the values of the playground's form, and the problems of its fields.
type playgroundForm struct {
	fields       map[string]string
	rowCount     int
	problems     map[string]string
	argumentRows []int // row of each argument of the request
}

func newForm() *playgroundForm {
	return &playgroundForm{rowCount: views.PlaygroundRows, problems: map[string]string{}, fields: map[string]string{
		"kernel_type": "triton", "num_trials": "100", "timeout": "120", "atol": "0.01", "rtol": "0.01", "l2_flush": "true",
	}}
}

func readFields(c *fiber.Ctx) (*playgroundForm, error) {
	f, size := &playgroundForm{fields: map[string]string{}, problems: map[string]string{}}, 0
	for name, value := range c.Request().PostArgs().All() {
		if size += len(name) + len(value); size > site.MaxFormText {
			return nil, site.TooMuchTextError("Send a larger request to POST /evaluate.")
		}
		f.fields[string(name)] = strings.ReplaceAll(string(value), "\r\n", "\n") // browsers send line ends as CRLF
	}
	f.rowCount, _ = strconv.Atoi(f.fields["rows"]) // 0 for an invalid number
	f.rowCount = min(max(f.rowCount, 1), maxArguments)
	return f, nil
}

// trimmedField returns a field without leading and trailing spaces.
func (f *playgroundForm) trimmedField(name string) string { return strings.TrimSpace(f.fields[name]) }

func (f *playgroundForm) responseStatus() int {
	if len(f.problems) > 0 {
		return fiber.StatusUnprocessableEntity
	}
	return fiber.StatusOK
}

// parseRequest reads the form as a request of the evaluation API. If ok is false, f.problems has the reasons.
func (f *playgroundForm) parseRequest(bounds kernelrun.RequestLimits) (request kernelrun.Request, ok bool) {
	kind, body := f.requestBody()
	for name, text := range f.fields {
		if valid := strings.ToValidUTF8(text, ""); len(valid) != len(text) {
			f.problems[name] = "This is not UTF-8 text."
		}
	}
	if len(f.problems) > 0 {
		return request, false
	}
	request, problems := kernelrun.ReadRequest(kind, body, kernelrun.RefuseAll)
	for _, problem := range problems {
		name, within := f.fieldOfPath(problem.Field)
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
func (f *playgroundForm) recordProblems(err error) bool {
	var refusal *kernelrun.Refusal
	if !errors.As(err, &refusal) {
		f.problems[""] = site.FailureFromError(err).Message
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

// requestBody returns the body of the equivalent API request.
func (f *playgroundForm) requestBody() (kernelrun.EvaluationKind, map[string]any) {
	body := map[string]any{"l2_flush": f.trimmedField("l2_flush") == "true", "collect_device_metrics": f.trimmedField("collect_device_metrics") == "true",
		"shared": f.trimmedField("shared") == "true"}
	for _, name := range []string{"num_trials", "timeout", "gpu_type"} {
		if value := f.trimmedField(name); value != "" {
			body[name] = value
		}
	}
	if f.trimmedField("kernel") == "" {
		f.problems["kernel"] = "Paste a kernel here."
	}
	io := f.argumentsContract()
	if f.trimmedField("reference") == "" {
		body["kernel"] = f.kernelCode("kernel", io)
		return kernelrun.KindEvaluate, body
	}
	body["custom_kernel"] = f.kernelCode("kernel", io)
	if f.trimmedField("reference_contract") != "" {
		io = f.parseJSONField("reference_contract")
	}
	body["ref_kernel"] = f.kernelCode("reference", io)
	for _, name := range []string{"atol", "rtol"} {
		if value := f.trimmedField(name); value != "" {
			body[name] = value
		}
	}
	return kernelrun.KindCompare, body
}

// kernelNameKeys maps each kind of kernel to the metadata key that has the kernel's name. torch_cuda has none.
var kernelNameKeys = map[string]string{"torch": "function_name", "triton": "kernel_name", "cuda": "kernel_name", "multi_kernel": "entry_point"}

func (f *playgroundForm) kernelCode(field string, io any) map[string]any {
	kernelType := f.trimmedField(field + "_type")
	code := map[string]any{"source_code": f.fields[field], "kernel_type": kernelType}
	if io != nil {
		code["io"] = io
	}
	metadata := map[string]any{}
	if f.trimmedField(field+"_metadata") != "" {
		read, ok := f.parseJSONField(field + "_metadata").(map[string]any)
		if !ok && f.problems[field+"_metadata"] == "" {
			f.problems[field+"_metadata"] = `Write an object: {"class_name": "Model"}.`
		}
		for key, value := range read {
			metadata[key] = value
		}
	}
	if key := kernelNameKeys[kernelType]; key != "" && f.trimmedField(field+"_name") != "" {
		metadata[key] = f.trimmedField(field + "_name")
	}
	if len(metadata) > 0 {
		code["metadata"] = metadata
	}
	return code
}

// parseJSONField parses a field that contains JSON.
func (f *playgroundForm) parseJSONField(name string) any {
	if job.ExceedsValueCount([]byte(f.trimmedField(name)), site.MaxJSONValues) {
		f.problems[name] = fmt.Sprintf("This has more than %d values.", site.MaxJSONValues)
		return nil
	}
	decoder := json.NewDecoder(strings.NewReader(f.trimmedField(name)))
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

// initParameterNames maps each way of initializing a tensor to the API parameters that the two number fields of its row
// set.
var initParameterNames = map[string][]string{"randn": {"mean", "std"}, "uniform": {"low", "high"}, "full": {"fill_value"}, "arange": {"start", "step"}}

// fieldOfPath returns the form field for a path of the API's request. within is the remaining path if the field
// contains several values.
func (f *playgroundForm) fieldOfPath(path string) (field, within string) {
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
	if from == "reference" && f.trimmedField("reference_contract") != "" {
		return "reference_contract", inJSON
	}
	if f.trimmedField("contract") != "" || len(steps) < 4 {
		return "contract", inJSON
	}
	if steps[2] != "args" {
		return strings.Join(steps[2:], "-"), ""
	}
	index, err := strconv.Atoi(steps[3])
	if err != nil || index >= len(f.argumentRows) || len(steps) < 5 {
		return "contract", inJSON
	}
	return views.ArgumentField(f.argumentRows[index], argumentField(steps[4:])), ""
}

// argumentField returns the field of a row for a path inside an argument.
func argumentField(steps []string) string {
	if steps[0] != "tensor_spec" || len(steps) == 1 {
		return steps[0]
	}
	if steps[1] != "init" || len(steps) == 2 {
		return steps[1]
	}
	for _, names := range initParameterNames {
		for i, name := range names {
			if name == steps[2] {
				return []string{"first", "second"}[i]
			}
		}
	}
	return steps[2]
}
