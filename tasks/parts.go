package tasks

// Part is something that a task's files define, or may use, where Warpboard's harness measures.
type Part struct {
	File    string
	Name    string
	Use     string // how it is declared or called
	Meaning string // Markdown
	Given   bool   // the harness brings it
	// Optional: the task may do without. What is neither given nor optional the task must define, or the submission.
	Optional bool
}

// Parts lists what the files of a task in a language define, and what the harness gives them.
func Parts(lang Lang) []Part {
	switch lang {
	case LangPython:
		return pythonParts()
	case LangCUDA:
		return append(nativeParts("reference.cuh"),
			Part{"utils.h", "DeviceBuffer", "DeviceBuffer<float> out(size)", "Memory of the GPU, for inputs and answers.", true, false},
			Part{"utils.h", "CUDA_CHECK", "CUDA_CHECK(cudaGetLastError())", "Ends the run with CUDA's own words if a call failed.", true, false})
	case LangCPP:
		return nativeParts("reference.h")
	}
	return nil
}

// exact is the purpose of reference_fp64, in every language.
const exact = "Answers the same in double precision. With it, runs show how far each test's answer is from that, in relative error and " +
	"in units of the last place; that decides nothing. "

func nativeParts(reference string) []Part {
	return []Part{
		{"task.h", "input_t", "struct input_t { … };", "What one call is given: vectors, arrays, strings, numbers, `DeviceBuffer`s on a GPU, and structs of these. " +
			"Memory for the answer belongs in it, too. A type of your own that cannot be taken apart brings `auto members(T& value)`, which ties its members.", false, false},
		{"task.h", "output_t", "using output_t = std::vector<float>;", "What one call answers, made of the same.", false, false},
		{"task.h", "ArgumentNames", `constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};`, "The arguments of `generate_input`, in its order: cases give them by name.", false, false},
		{reference, "generate_input", "input_t generate_input(int size, int seed)", "Makes the input of a case. An argument called `seed` has a new value in every timed call.", false, false},
		{reference, "check_implementation", "void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output)",
			"Says whether an answer is right: `reporter.pass()` or `reporter.fail() << why`, one of them, once. It sees inputs as they were made, whatever the kernel did to its own.", false, false},
		{reference, "reference_fp64", "std::vector<double> reference_fp64(const input_t& data)",
			exact + "It gives doubles where `output_t` has floats, `__half` or other floating-point numbers, as many and in the same order: vectors, `DeviceBuffer<double>`s on a GPU, or a struct of these.", false, true},
		{"the submission", "custom_kernel", "output_t custom_kernel(input_t data)", "What people write. It may return memory that it was given: `return std::move(data.out);`.", false, false},
		{"utils.h", "TestReporter", "void check(TestReporter& reporter) { reporter.fail() << \"element \" << i; }", "Takes the verdict.", true, false},
		{"utils.h", "warpboard::Random", "warpboard::Random(seed, stream).uniform()", "Numbers that a submission cannot foresee from earlier ones. Other generators may be turned round; use this one.", true, false},
	}
}

func pythonParts() []Part {
	return []Part{
		{"reference.py", "generate_input", "def generate_input(size: int, seed: int)", "Makes the input of a case: tensors, NumPy arrays, numbers, and tuples, lists or dicts of these. " +
			"An argument called `seed` has a new value in every timed call.", false, false},
		{"reference.py", "check_implementation", "def check_implementation(data, output)", "Says whether an answer is right: returns `(bool, message)`, or a message that is empty when it is. " +
			"It sees inputs as they were made, whatever the kernel did to its own.", false, false},
		{"reference.py", "reference_fp64", "def reference_fp64(data)",
			exact + "It gives `float64` in the answer's shape: arrays or tensors, and tuples, lists or dicts where the answer is one. A reference that computes so already is as good: `reference_fp64 = reference`.", false, true},
		{"submission.py", "custom_kernel", "def custom_kernel(data)", "What people write. The file must be called `submission.py` in files.", false, false},
		{"utils.py", "make_match_reference", "check_implementation = make_match_reference(reference, rtol=1e-5, atol=1e-8)",
			"Makes a checker of a function that computes the right answer: types, shapes, NaN and infinities are compared, too.", true, false},
		{"utils.py", "verbose_allclose", "verbose_allclose(output, wanted, rtol=1e-5, atol=1e-8)", "A list of lines that say where two arrays differ; empty if they agree.", true, false},
	}
}
