package tasks

import (
	"fmt"
	"math"
	"strconv"

	"go.yaml.in/yaml/v3"

	"warpboard/tasks/parse"
)

// elementSizes are names that an expression may use in addition to the arguments of a case, with the bytes of one
// element. An argument with the same name takes precedence.
var elementSizes = map[string]float64{
	"float64": 8, "float32": 4, "float16": 2, "bfloat16": 2, "float8": 1,
	"int64": 8, "int32": 4, "int16": 2, "int8": 1, "uint8": 1,
}

// BytesAndFlops returns the bytes that one call with the case must transfer, and its floating-point operations; 0
// without an expression. It returns an error for a name that is not a numeric argument of the case, and for a value
// that is negative or not finite.
func (r Roofline) BytesAndFlops(c Case) (bytes, flops float64, err error) {
	if bytes, err = evaluateExpression("bytes", r.Bytes, c); err != nil {
		return 0, 0, err
	}
	if flops, err = evaluateExpression("flops", r.Flops, c); err != nil {
		return 0, 0, err
	}
	return bytes, flops, nil
}

func evaluateExpression(quantity, text string, c Case) (float64, error) {
	if text == "" {
		return 0, nil
	}
	e, err := parse.ParseArithmetic(text)
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", quantity, text, err)
	}
	value, err := e(c.numericArgument)
	if err != nil {
		return 0, fmt.Errorf("%s %q: %w", quantity, text, err)
	}
	if value < 0 || math.IsNaN(value) || math.IsInf(value, 0) {
		return 0, fmt.Errorf("%s %q is %v for the case %q", quantity, text, value, c)
	}
	return value, nil
}

// numericArgument returns a numeric argument, or the size of an element type, by its name.
func (c Case) numericArgument(name string) (float64, error) {
	for _, arg := range c {
		if arg.Name != name {
			continue
		}
		value, err := strconv.ParseFloat(arg.Value, 64)
		if err != nil {
			return 0, fmt.Errorf("the argument %s is %q, which is not a number", name, arg.Value)
		}
		return value, nil
	}
	if bytes, ok := elementSizes[name]; ok {
		return bytes, nil
	}
	return 0, fmt.Errorf("%q is neither an argument of the case %q nor a type such as float32", name, c)
}

// readRoofline reads the key roofline, and checks that both expressions can be evaluated for every benchmark.
func (r *taskReader) readRoofline(node *yaml.Node) *Roofline {
	if node == nil {
		return nil
	}
	f := r.readMapping(node, "roofline", knownKeys("roofline", "")...)
	out := &Roofline{
		Bytes: r.readScalar(f["bytes"], "roofline.bytes"),
		Flops: r.readScalar(f["flops"], "roofline.flops"),
	}
	for _, expression := range []struct{ key, text string }{{"bytes", out.Bytes}, {"flops", out.Flops}} {
		r.checkExpression(f[expression.key], expression.key, expression.text)
	}
	return out
}

func (r *taskReader) checkExpression(node *yaml.Node, key, text string) {
	if text == "" {
		return
	}
	if _, err := parse.ParseArithmetic(text); err != nil {
		r.addProblem(node, "roofline."+key, "%q %v", text, err)
		return
	}
	for i, c := range r.bundle.Definition.Benchmarks {
		for _, corner := range c.cornerCases() {
			if _, err := evaluateExpression(key, text, corner); err != nil {
				r.addProblem(node, "roofline."+key, "fails on benchmarks[%d]: %v", i, err)
				return
			}
		}
	}
}
