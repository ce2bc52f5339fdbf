package tasks

// HarnessPart is a function or type that the files of a task with the harness of Warpboard define or may use.
type HarnessPart struct {
	File          string
	Name          string
	Usage         string // declaration or call
	MeaningText   string // Markdown
	IsFromHarness bool   // provided by the harness
	// IsOptional means that a part may be missing. The task or the submission must define each part that is not
	// optional and not IsFromHarness.
	IsOptional bool
}

// HarnessDeclarations returns the functions and types that the files of a task in a language must or may define, and
// those that the harness provides.
func HarnessDeclarations(lang Lang) []HarnessPart {
	switch lang {
	case LangPython:
		return pythonHarnessParts()
	case LangCUDA:
		return append(nativeHarnessParts("reference.cuh"),
			HarnessPart{"utils.h", "DeviceBuffer", "DeviceBuffer<float> out(size)", "GPU memory for inputs and answers.", true, false},
			HarnessPart{"utils.h", "CUDA_CHECK", "CUDA_CHECK(cudaGetLastError())", "If a call failed, ends the run with CUDA's error message.", true, false})
	case LangCPP:
		return nativeHarnessParts("reference.h")
	}
	return nil
}

// doublePrecisionNote describes reference_fp64, in every language.
const doublePrecisionNote = "Computes the same answer in double precision. Runs then show the error of each test's answer, relative and " +
	"in units in the last place. The error does not affect whether a run passes. "

func nativeHarnessParts(reference string) []HarnessPart {
	return []HarnessPart{
		{"task.h", "input_t", "struct input_t { … };", "The input of one call: vectors, arrays, strings, numbers, `DeviceBuffer`s on a GPU, and structs of these. " +
			"It also contains memory for the answer. If one of your types cannot be decomposed, define `auto members(T& value)` for it, which ties its members.", false, false},
		{"task.h", "output_t", "using output_t = std::vector<float>;", "The answer of one call, made of the same types.", false, false},
		{"task.h", "ArgumentNames", `constexpr std::array<const char*, 2> ArgumentNames{"size", "seed"};`, "The arguments of `generate_input`, in the same order. Cases give them by name.", false, false},
		{reference, "generate_input", "input_t generate_input(int size, int seed)", "Makes the input of a case. An argument called `seed` has a new value in every timed call.", false, false},
		{reference, "check_implementation", "void check_implementation(TestReporter& reporter, const input_t& data, const output_t& output)",
			"Checks an answer: calls `reporter.pass()` or `reporter.fail() << why`, exactly once. It gets the original inputs, even if the kernel changed its own.", false, false},
		{reference, "reference_fp64", "std::vector<double> reference_fp64(const input_t& data)",
			doublePrecisionNote + "It returns doubles for the floats, `__half`s, and other floating-point numbers of `output_t`, as many and in the same order: vectors, `DeviceBuffer<double>`s on a GPU, or a struct of these.", false, true},
		{"the submission", "custom_kernel", "output_t custom_kernel(input_t data)", "The function that people write. It may return memory that it received: `return std::move(data.out);`.", false, false},
		{"utils.h", "TestReporter", "void check(TestReporter& reporter) { reporter.fail() << \"element \" << i; }", "Records the verdict.", true, false},
		{"utils.h", "warpboard::Random", "warpboard::Random(seed, stream).uniform()", "Random numbers that a submission cannot predict from earlier ones. Use this generator, because others can be reversed.", true, false},
	}
}

func pythonHarnessParts() []HarnessPart {
	return []HarnessPart{
		{"reference.py", "generate_input", "def generate_input(size: int, seed: int)", "Makes the input of a case: tensors, NumPy arrays, numbers, and tuples, lists or dicts of these. " +
			"An argument called `seed` has a new value in every timed call.", false, false},
		{"reference.py", "check_implementation", "def check_implementation(data, output)", "Checks an answer: returns `(bool, message)`, or only a message, which is empty for a correct answer. " +
			"It gets the original inputs, even if the kernel changed its own. With `tolerance` in task.yml, `ref_kernel(data)` can take its place: it computes the correct answer.", false, false},
		{"reference.py", "reference_fp64", "def reference_fp64(data)",
			doublePrecisionNote + "It returns `float64` in the answer's shape: arrays or tensors, or tuples, lists, or dicts like the answer. If the reference already computes in double precision, write `reference_fp64 = reference`.", false, true},
		{"submission.py", "custom_kernel", "def custom_kernel(data)", "The function that people write. The file must be called `submission.py` in files.", false, false},
		{"utils.py", "make_match_reference", "check_implementation = make_match_reference(reference, rtol=1e-5, atol=1e-8)",
			"Makes a checker from a function that computes the correct answer. It also compares types, shapes, NaN, and infinities.", true, false},
		{"utils.py", "verbose_allclose", "verbose_allclose(output, wanted, rtol=1e-5, atol=1e-8)", "A list of lines that say where two arrays differ; empty if they agree.", true, false},
	}
}
