package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"

	"warpboard/evaluator/kernelrun"
	"warpboard/views"
)

const mostArguments = 64 // rows of the form; a JSON contract may hold more

// playground is the form: what its fields hold, and what is wrong with them.
type playground struct {
	fields   map[string]string
	rows     int
	problems map[string]string
	argRows  []int // the row that each argument of the request came from
}

func newPlayground() *playground {
	return &playground{rows: 2, problems: map[string]string{}, fields: map[string]string{
		"kernel_type": "triton", "num_trials": "100", "timeout": "120", "atol": "0.01", "rtol": "0.01", "l2_flush": "true",
	}}
}

func readPlayground(c *fiber.Ctx) *playground {
	p := &playground{fields: map[string]string{}, problems: map[string]string{}}
	c.Request().PostArgs().VisitAll(func(name, value []byte) {
		p.fields[string(name)] = strings.ReplaceAll(string(value), "\r\n", "\n") // forms send lines so
	})
	p.rows, _ = strconv.Atoi(p.fields["rows"]) // what is no number is no row
	p.rows = min(max(p.rows, 1), mostArguments)
	return p
}

// get is a field without the space around it.
func (p *playground) get(name string) string { return strings.TrimSpace(p.fields[name]) }

func (p *playground) status() int {
	if len(p.problems) > 0 {
		return fiber.StatusUnprocessableEntity
	}
	return fiber.StatusOK
}

// request reads the form as the API reads its bodies. When it is not ok, problems says why.
func (p *playground) request(bounds kernelrun.Bounds) (request kernelrun.Request, ok bool) {
	kind, body := p.body()
	if len(p.problems) > 0 {
		return request, false
	}
	request, problems := kernelrun.Read(kind, body, kernelrun.RefuseAll)
	for _, problem := range problems {
		name, within := p.fieldOf(problem.Field)
		p.problems[name] = within + problem.Sentence()
	}
	if len(problems) == 0 {
		if err := request.Check(bounds); err != nil {
			p.refuse(err)
		}
	}
	return request, len(p.problems) == 0
}

// refuse notes why the request was not taken; it tells whether that was a fault of the request.
func (p *playground) refuse(err error) bool {
	var refusal *kernelrun.Refusal
	if !errors.As(err, &refusal) {
		p.problems[""] = failureOf(err).message
		return false
	}
	name := ""
	for _, field := range []string{"num_trials", "timeout", "gpu_type"} {
		if _, about := refusal.Details[field]; about {
			name = field
		}
	}
	p.problems[name] = refusal.Message + "."
	return true
}

// body is the request's body, as a program would send it.
func (p *playground) body() (kernelrun.Kind, map[string]any) {
	body := map[string]any{"l2_flush": p.get("l2_flush") == "true", "collect_device_metrics": p.get("collect_device_metrics") == "true",
		"shared": p.get("shared") == "true"}
	for _, name := range []string{"num_trials", "timeout", "gpu_type"} {
		if value := p.get(name); value != "" {
			body[name] = value
		}
	}
	if p.get("kernel") == "" {
		p.problems["kernel"] = "Paste a kernel here."
	}
	io := p.contract()
	if p.get("reference") == "" {
		body["kernel"] = p.code("kernel", io)
		return kernelrun.Evaluate, body
	}
	body["custom_kernel"] = p.code("kernel", io)
	if p.get("reference_contract") != "" {
		io = p.json("reference_contract")
	}
	body["ref_kernel"] = p.code("reference", io)
	for _, name := range []string{"atol", "rtol"} {
		if value := p.get(name); value != "" {
			body[name] = value
		}
	}
	return kernelrun.Compare, body
}

// nameKeys are the keys of metadata that a kernel's name goes to; torch_cuda has none.
var nameKeys = map[string]string{"torch": "function_name", "triton": "kernel_name", "cuda": "kernel_name", "multi_kernel": "entry_point"}

func (p *playground) code(field string, io any) map[string]any {
	kernelType := p.get(field + "_type")
	code := map[string]any{"source_code": p.fields[field], "kernel_type": kernelType}
	if io != nil {
		code["io"] = io
	}
	metadata := map[string]any{}
	if p.get(field+"_metadata") != "" {
		read, ok := p.json(field + "_metadata").(map[string]any)
		if !ok && p.problems[field+"_metadata"] == "" {
			p.problems[field+"_metadata"] = `Write an object: {"class_name": "Model"}.`
		}
		for key, value := range read {
			metadata[key] = value
		}
	}
	if key := nameKeys[kernelType]; key != "" && p.get(field+"_name") != "" {
		metadata[key] = p.get(field + "_name")
	}
	if len(metadata) > 0 {
		code["metadata"] = metadata
	}
	return code
}

// json reads a field that holds JSON.
func (p *playground) json(name string) any {
	decoder := json.NewDecoder(strings.NewReader(p.get(name)))
	decoder.UseNumber()
	var value any
	err := decoder.Decode(&value)
	if err == nil && decoder.More() {
		err = errors.New("something follows its end")
	}
	if err != nil {
		p.problems[name] = fmt.Sprintf("This is not JSON, near character %d: %v.", decoder.InputOffset(), err)
		return nil
	}
	return value
}

// initNumbers are the parameters that the two numbers of a row stand for, by how a tensor is filled.
var initNumbers = map[string][]string{"randn": {"mean", "std"}, "uniform": {"low", "high"}, "full": {"fill_value"}, "arange": {"start", "step"}}

// fieldOf finds the field that a path in the request came from; within says where in it, if it holds more.
func (p *playground) fieldOf(path string) (field, within string) {
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
	if from == "reference" && p.get("reference_contract") != "" {
		return "reference_contract", inJSON
	}
	if p.get("contract") != "" || len(steps) < 4 {
		return "contract", inJSON
	}
	if steps[2] != "args" {
		return strings.Join(steps[2:], "-"), ""
	}
	index, err := strconv.Atoi(steps[3])
	if err != nil || index >= len(p.argRows) || len(steps) < 5 {
		return "contract", inJSON
	}
	return views.ArgumentField(p.argRows[index], argumentField(steps[4:])), ""
}

// argumentField names the field of a row that a path below an argument came from.
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
