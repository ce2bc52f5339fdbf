package kernelrun

import (
	"warpboard/internal/requirement"
	"warpboard/tasks"
)

// Defaults of a request. The legacy format has a shorter time limit.
const (
	defaultTrials        = 100
	defaultTimeout       = 120
	defaultLegacyTimeout = 30
	defaultTolerance     = 0.01
	defaultConfidence    = 0.95
)

// evaluateRequestModel and the following functions return tables of fields. A table is used both to check requests and
// to describe them (JSONSchemas).
func evaluateRequestModel() model {
	return model{name: "EvaluationRequest", description: "One kernel: compile it, check that it runs, time it.", fields: append([]field{
		{name: "kernel", kind: kernelCodeModel(), required: true, description: "the kernel"},
	}, commonRequestFields()...)}
}

func compareRequestModel() model {
	fields := append([]field{
		{name: "ref_kernel", kind: kernelCodeModel(), required: true, description: "the correct kernel"},
		{name: "custom_kernel", kind: kernelCodeModel(), required: true, description: "the kernel that is checked against it and timed beside it"},
	}, commonRequestFields()...)
	return model{name: "CompareRequest", description: "Two kernels: compile both, compare their outputs, time them in turn.", check: checkComparison, fields: append(fields,
		field{
			name:         "atol",
			kind:         numberKind{},
			nullable:     true,
			defaultValue: defaultTolerance,
			description:  "absolute tolerance; integers and booleans are compared exactly if it is below 1",
		},
		field{name: "rtol", kind: numberKind{}, nullable: true, defaultValue: defaultTolerance, description: "relative tolerance, of the custom kernel's output; without atol and rtol, types of 8 bits and fewer have one step of the type"},
		field{
			name:         "required_matched_ratio",
			kind:         numberKind{},
			nullable:     true,
			defaultValue: 1.0,
			description:  "the same as matched",
		},
		field{name: "matched", kind: numberKind{}, nullable: true, description: "the share of the elements of each output that must be within the tolerance, 0.01 to 1; 1 by default"},
		field{
			name:        "max_error",
			kind:        numberKind{},
			nullable:    true,
			description: "the difference that no element may exceed, whatever share must match",
		},
		field{
			name:         "equal_nan",
			kind:         booleanKind{},
			nullable:     true,
			defaultValue: false,
			description:  "NaN agrees with NaN at the same place; otherwise a reference with NaN is refused",
		},
		field{name: "infinite", kind: enumKind(tasks.InfiniteRuleNames()), nullable: true, description: "which infinities agree with themselves at the same place: equal (all, the default), negative, or never"},
		field{name: "tolerances", kind: dictKind{valueKind: toleranceModel(), maxKeys: tasks.MaxTolerances}, nullable: true, description: "the tolerances of single outputs, by key of a dict or number in a tuple; absent words are those of the request"},
		field{name: "baselines", kind: listKind{enumKind{BaselineEager, BaselineCompile}}, nullable: true, description: "time the kernel also beside these: eager is the reference as it is, torch.compile the reference compiled by PyTorch, in a comparison of its own; timeout is for all"},
		field{name: "reuse_reference", kind: booleanKind{}, nullable: true, defaultValue: false, description: "use the answers and times of the same reference from a comparison of yours in the last 10 minutes that said this too, if they are kept"},
	)}
}

func toleranceModel() model {
	return model{name: "Tolerance", description: "The tolerance of one output.", refusesUnknownKeys: true, check: checkTolerance, fields: []field{
		{name: "atol", kind: numberKind{}, nullable: true, description: "absolute tolerance"},
		{name: "rtol", kind: numberKind{}, nullable: true, description: "relative tolerance, of the custom kernel's output"},
		{name: "matched", kind: numberKind{}, nullable: true, description: "the share of the elements that must be within both"},
		{name: "max_error", kind: numberKind{}, nullable: true,
			description: "the difference that no element may exceed"},
		{name: "equal_nan", kind: booleanKind{}, nullable: true, description: "NaN agrees with NaN at the same place"},
		{name: "infinite", kind: enumKind(tasks.InfiniteRuleNames()), nullable: true,
			description: "equal, negative, or never"},
	}}
}

// compileRequestModel has few fields, because nothing runs.
func compileRequestModel() model {
	return model{name: "CompileRequest", description: "One C++ or CUDA source, or a submission to a task: compile it, and do not run it.", refusesUnknownKeys: true, fields: []field{
		{name: "source_code", kind: textKind{}, required: true, description: "the source, up to 1,000,000 bytes"},
		{name: "kernel_type", kind: caseInsensitiveKind{enumKind{"cuda", "cpp"}}, nullable: true, description: "the language of the source; needed without a task"},
		{name: "task", kind: textKind{}, nullable: true, description: "the name of a C++ or CUDA task: the source is compiled as a submission to it, with its headers and flags"},
		{name: "gpu_type", kind: textKind{}, nullable: true, description: "the device to compile for, such as h200; C++ is compiled for cpu; absent: any"},
		{name: "timeout", kind: integerKind{}, defaultValue: int64(CompileTimeout), description: "seconds for the compilers, 5 to 600; waiting for a worker does not count"},
		{name: "shared", kind: booleanKind{}, nullable: true, defaultValue: false, description: "let anyone who has the evaluation's id read it with its source"},
	}}
}

func commonRequestFields() []field {
	return []field{
		{name: "num_trials", kind: integerKind{}, defaultValue: int64(defaultTrials), description: "timed calls, 1 to 10000; on a GPU up to 20 are made where fewer are asked for, and times has as many as were"},
		{name: "stop_when", kind: stopWhenModel(), nullable: true, description: "end the timed calls as soon as they show this; absent: make all num_trials"},
		{name: "cases", kind: listKind{objectKind{}}, nullable: true, description: "up to 8 cases that are checked and timed one after the other: arguments of get_inputs() by name, or of a contract the values of scalars and the shapes of tensors; num_trials holds for each"},
		{name: "setup", kind: booleanKind{}, nullable: true, defaultValue: false, description: "call setup(meta) of the custom kernel's file, if it has one, before each case, and pass the result to the kernel as state: meta has the shapes, types, and constants of the inputs; its time is not counted"},
		{name: "timeout", kind: integerKind{}, defaultValue: int64(defaultTimeout), description: "seconds for the evaluation itself, 5 to 600; waiting for a device does not count"},
		{name: "gpu_type", kind: textKind{}, nullable: true, description: "device to run on, such as h200 or cpu; absent: any, preferably a GPU"},
		{name: "require", kind: requirementsKind{}, nullable: true, description: "Python packages that the worker must have, such as \"nvidia-cutlass-dsl>=4\"; up to 20, each a name and versions with ==, !=, >=, <=, >, <, ~= (PEP 440), separated by commas. It waits for such a worker"},
		{name: "l2_flush", kind: booleanKind{}, nullable: true, defaultValue: true, description: "write over the L2 cache before every timed call"},
		{name: "collect_device_metrics", kind: booleanKind{}, nullable: true, defaultValue: false, description: "read hardware counters with Nsight Compute, in a pass of its own"},
		{name: "ncu_sections", kind: listKind{textKind{}}, nullable: true, description: "Nsight Compute sections to collect; absent: the full set"},
		{name: "reuse_result", kind: booleanKind{}, nullable: true, defaultValue: false, description: "share the result of an equal request of yours that said this too; the answer's reused names it"},
		{name: "shared", kind: booleanKind{}, nullable: true, defaultValue: false, description: "let anyone who has the evaluation's id read it with its sources; otherwise only you and the admins can"},
	}
}

func stopWhenModel() model {
	return model{name: "StopWhen", description: "What the timed calls have to show; one condition suffices. They are looked at after 20, 40, 80, … calls, and all looks share the error that confidence leaves.", refusesUnknownKeys: true, fields: []field{
		{name: "half_width", kind: numberKind{}, nullable: true, description: "the interval of the speedup, or without a reference of the median time, is no wider than ± this share, 0.001 to 0.5"},
		{name: "speedup_above", kind: numberKind{}, nullable: true, description: "the interval of the speedup is above this"},
		{name: "speedup_below", kind: numberKind{}, nullable: true, description: "the interval of the speedup is below this"},
		{name: "confidence", kind: numberKind{}, defaultValue: defaultConfidence, description: "of the decision and of speedup_interval, 0.5 to 0.999"},
	}}
}

func kernelCodeModel() model {
	return model{name: "KernelCode", description: "The source of one kernel and how it is called.", refusesUnknownKeys: true, fields: []field{
		{name: "source_code", kind: textKind{}, required: true, optionalIfPresent: "source_files", description: "the source; of several files the main one"},
		{name: "source_files", kind: dictKind{valueKind: textKind{}, maxKeys: tasks.MaxSubmissionFiles + 1}, nullable: true, description: "further files by name, which lie beside the main one; without source_code also the main one, main.py or the only Python file (cuda: main.cu or the only .cu file)"},
		{name: "kernel_type", kind: caseInsensitiveKind{enumKind{"torch", "cuda", "triton", "torch_cuda", "multi_kernel"}}, required: true, description: "the kind of the source, in any case"},
		{name: "io", kind: ioContractModel(), nullable: true, description: "arguments and launch sizes"},
		{name: "metadata", kind: objectKind{}, nullable: true, description: "by type: function_name, class_name, method_name (torch, torch_cuda); kernel_name (triton, cuda); compiler_options, name_expressions (cuda); entry_point (multi_kernel)"},
	}, check: checkCode}
}

func ioContractModel() model {
	return model{name: "IOContract", description: "The arguments of a kernel. They are bound by position, those marked is_meta by name.", fields: []field{
		{name: "args", kind: listKind{argumentModel()}, required: true, description: "the arguments in order"},
		{name: "launch", kind: launchConfigModel(), nullable: true, description: "launch sizes; unused by torch, torch_cuda and multi_kernel"},
	}}
}

func argumentModel() model {
	return model{name: "ArgSpec", description: "One argument.", fields: []field{
		{name: "name", kind: textKind{}, required: true, description: "its name"},
		{name: "type", kind: enumKind{"tensor", "int", "float", "str", "bool"}, required: true, description: "the kind of the argument"},
		{name: "value", kind: scalarKind{}, nullable: true, description: "a scalar's value, of the argument's type; a scalar needs it"},
		{name: "tensor_spec", kind: tensorSpecModel(), nullable: true, description: "a tensor's shape and content; a tensor needs it"},
		{name: "role", kind: enumKind{"input", "output", "inout"}, defaultValue: "input", description: "whether the kernel reads it, writes it, or both"},
		{name: "is_meta", kind: booleanKind{}, defaultValue: false, description: "a compile-time parameter of a Triton kernel"},
	}, check: checkArgument}
}

// dtypeKind lists the element types by PyTorch's names. A worker whose PyTorch lacks one reports those that it has.
func dtypeKind() enumKind {
	return enumKind{"float64", "float32", "float16", "bfloat16", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu",
		"float4_e2m1fn_x2", "int64", "int32", "int16", "int8", "uint64", "uint32", "uint16", "uint8", "bool", "complex64", "complex128"}
}

func tensorSpecModel() model {
	return model{name: "TensorSpec", description: "A tensor. data wins over init; with neither it holds nothing of use.", fields: []field{
		{name: "shape", kind: listKind{minIntegerKind(0)}, defaultValue: []any{}, description: "extents; none is a single element"},
		{name: "dtype", kind: dtypeKind(), defaultValue: "float32", description: "the type of its elements, as PyTorch names it"},
		{name: "init", kind: tensorInitModel(), nullable: true, description: "how to fill it"},
		{name: "data", kind: tensorDataModel(), nullable: true, description: "its very bytes"},
	}}
}

func tensorInitModel() model {
	fields := []field{
		{name: "kind", kind: enumKind{"randn", "uniform", "zeros", "ones", "full", "arange"}, defaultValue: "randn", description: "the values that fill it"},
		{name: "seed", kind: integerKind{}, nullable: true, description: "of randn and uniform. Two tensors with the same seed, shape, dtype and init are equal in every trial. The first trial draws from the seed itself, so its values are the same in every evaluation; each later trial draws from a secret seed that is derived from it. Absent: each argument has a seed of its own"},
	}
	for _, name := range []string{"mean", "std", "low", "high", "fill_value", "start", "step"} {
		fields = append(fields, field{name: name, kind: numberKind{}, nullable: true,
			description: "parameter of the kind"})
	}
	return model{name: "TensorInit", description: "How a tensor is filled.", fields: fields}
}

func tensorDataModel() model {
	return model{name: "TensorData", description: "A tensor's bytes: little-endian, in C order, perhaps compressed, in base64.", fields: []field{
		{name: "data_b64", kind: textKind{}, required: true, description: "the bytes"},
		{name: "dtype", kind: dtypeKind(), defaultValue: "float32", description: "their type"},
		{name: "shape", kind: listKind{minIntegerKind(0)}, defaultValue: []any{}, description: "their extents; none: the spec's"},
		{name: "compress", kind: enumKind{"none", "zlib"}, defaultValue: "none", description: "how they were compressed before base64"},
	}}
}

func launchConfigModel() model {
	return model{name: "LaunchConfig", description: "How a kernel is launched.", fields: []field{
		{name: "grid", kind: launchDimModel(), nullable: true, description: "blocks; absent: 1"},
		{name: "block", kind: launchDimModel(), nullable: true, description: "threads of a block (cuda); absent: 256"},
		{name: "num_warps", kind: minIntegerKind(1), nullable: true, description: "Triton's"},
		{name: "num_stages", kind: minIntegerKind(0), nullable: true, description: "Triton's"},
		{name: "shared_mem", kind: minIntegerKind(0), nullable: true,
			description: "bytes of dynamic shared memory (cuda)"},
		{name: "kernel_name", kind: textKind{}, nullable: true, description: "the same as kernel_name in metadata (triton, cuda): which kernel of the source is launched"},
	}}
}

func launchDimModel() model {
	var fields []field
	for _, axis := range []string{"x", "y", "z"} {
		fields = append(fields, field{
			name:         axis,
			kind:         positiveSizeKind{},
			defaultValue: int64(1),
			description:  `a number, or an expression over the scalar arguments such as "cdiv(n, 256)"`,
		})
	}
	return model{name: "LaunchDim", description: "A size in up to three directions.", fields: fields}
}

// JSONSchemas returns the JSON Schemas of requests and their parts, by name. They reference each other by
// "#/components/schemas/NAME".
func JSONSchemas() map[string]any {
	out := map[string]any{}
	for _, m := range []model{evaluateRequestModel(), compareRequestModel(), compileRequestModel()} {
		m.collectModels(out)
	}
	return out
}

const schemaRefPrefix = "#/components/schemas/"

func (m model) schema() map[string]any { return map[string]any{"$ref": schemaRefPrefix + m.name} }

// collectModels adds the schemas of the model, and of all models that its fields use, to the map into. No model uses
// itself.
func (m model) collectModels(into map[string]any) {
	properties, required := map[string]any{}, []string{}
	for _, f := range m.fields {
		properties[f.name] = f.schema()
		if f.required && f.optionalIfPresent == "" {
			required = append(required, f.name)
		}
		part := f.kind
		switch of := part.(type) {
		case listKind:
			part = of.elementKind
		case dictKind:
			part = of.valueKind
		}
		if used, ok := part.(model); ok {
			used.collectModels(into)
		}
	}
	into[m.name] = map[string]any{
		"type": "object", "description": m.description, "properties": properties, "required": required, "additionalProperties": !m.refusesUnknownKeys,
	}
}

func (f field) schema() map[string]any {
	s := f.kind.schema()
	if f.nullable {
		s = oneOfSchema(s, typeSchema("null"))
	}
	s["description"] = f.description
	// nil means that the field has no default. "default": null would be one more value of the field in generated
	// clients.
	if f.defaultValue != nil {
		s["default"] = f.defaultValue
	}
	return s
}

// typeSchema returns the schema of one type. Numbers have an explicit width, because client generators would otherwise
// use 32 bits.
func typeSchema(name string) map[string]any {
	switch name {
	case "integer":
		return map[string]any{"type": name, "format": "int64"}
	case "number":
		return map[string]any{"type": name, "format": "double"}
	}
	return map[string]any{"type": name}
}

func (textKind) schema() map[string]any    { return typeSchema("string") }
func (integerKind) schema() map[string]any { return typeSchema("integer") }
func (numberKind) schema() map[string]any  { return typeSchema("number") }
func (booleanKind) schema() map[string]any { return typeSchema("boolean") }
func (objectKind) schema() map[string]any  { return typeSchema("object") }

func (scalarKind) schema() map[string]any {
	return oneOfSchema(typeSchema("integer"), typeSchema("number"), typeSchema("string"), typeSchema("boolean"))
}

// oneOfSchema returns the schema of a value of one of several kinds. Client generators do not support a list of types.
func oneOfSchema(first map[string]any, others ...map[string]any) map[string]any {
	kinds, nested := first["anyOf"].([]any)
	if !nested {
		kinds = []any{first}
	}
	for _, other := range others {
		kinds = append(kinds, other)
	}
	return map[string]any{"anyOf": kinds}
}

func (e enumKind) schema() map[string]any {
	return map[string]any{"type": "string", "enum": []string(e)}
}

func (requirementsKind) schema() map[string]any {
	return map[string]any{"type": "array", "items": typeSchema("string"), "maxItems": requirement.MaxRequirements}
}

func (d dictKind) schema() map[string]any {
	return map[string]any{"type": "object", "additionalProperties": d.valueKind.schema()}
}

func (l listKind) schema() map[string]any {
	return map[string]any{"type": "array", "items": l.elementKind.schema()}
}
