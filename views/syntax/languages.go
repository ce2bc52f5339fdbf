package syntax

import (
	"maps"
	"path"
	"strings"
)

// Language describes the lexical rules of a language.
type Language struct {
	Name string // unique name

	lineCommentStart string // starts a comment up to the end of the line
	hasBlockComments bool   // has /* … */ comments and R"x(…)x" strings
	quoteCharacters  string // each starts and ends a string
	hasTripleQuotes  bool   // three quotes start a multi-line string
	hasDirectives    bool   // a line may start with #include
	hasDecorators    bool   // a line may start with @name
	// hasFunctionSyntax means that a name between a type and a parenthesis is a definition, and that numbers have
	// separators.
	hasFunctionSyntax bool
	stringPrefixes    map[string]bool       // lowercase prefixes of strings
	definingWords     map[string]bool       // words before a defined name
	wordClasses       map[string]TokenClass // classes of keywords and known names
}

// Languages has the lexical rules of all languages of tasks and submissions.
type Languages struct{ cpp, python, config, json, plainText *Language }

// NewLanguages returns all languages.
func NewLanguages() *Languages {
	literals := newWordClasses(Keyword, "true false null")
	return &Languages{
		cpp: &Language{Name: "cpp", lineCommentStart: "//", hasBlockComments: true, quoteCharacters: `"'`, hasDirectives: true,
			hasFunctionSyntax: true,
			stringPrefixes:    newWordSet("r l u u8 lr ur u8r"),
			wordClasses: mergeClasses(newWordClasses(Keyword, cppWords),
				newWordClasses(TypeName, cppTypes))},
		python: &Language{Name: "python", lineCommentStart: "#", quoteCharacters: `"'`, hasTripleQuotes: true, hasDecorators: true,
			stringPrefixes: newWordSet("r b f u t rb br rf fr rt tr"), definingWords: newWordSet("def class"),
			wordClasses: mergeClasses(newWordClasses(Keyword, pythonWords),
				newWordClasses(BuiltinName, pythonBuiltins))},
		config:    &Language{Name: "config", lineCommentStart: "#", quoteCharacters: `"'`, wordClasses: literals},
		json:      &Language{Name: "json", quoteCharacters: `"`, wordClasses: literals},
		plainText: &Language{Name: "none"},
	}
}

// LanguageOfFile returns the language of a file, by its name.
func (l *Languages) LanguageOfFile(name string) *Language {
	switch strings.ToLower(path.Ext(name)) {
	case ".cu", ".cuh", ".h", ".hpp", ".hh", ".hxx", ".inl", ".c", ".cc", ".cpp", ".cxx":
		return l.cpp
	case ".py", ".pyi":
		return l.python
	case ".yml", ".yaml", ".toml", ".sh", ".cmake", ".mk":
		return l.config
	case ".json":
		return l.json
	}
	switch path.Base(name) {
	case "Makefile", "Dockerfile", "CMakeLists.txt":
		return l.config
	}
	return l.plainText
}

func newWordClasses(class TokenClass, list string) map[string]TokenClass {
	of := map[string]TokenClass{}
	for _, word := range strings.Fields(list) {
		of[word] = class
	}
	return of
}

func newWordSet(list string) map[string]bool {
	of := map[string]bool{}
	for _, word := range strings.Fields(list) {
		of[word] = true
	}
	return of
}

func mergeClasses(all, more map[string]TokenClass) map[string]TokenClass {
	maps.Copy(all, more)
	return all
}

const cppWords = `alignas alignof and and_eq asm bitand bitor break case catch class co_await co_return co_yield compl concept
	const const_cast consteval constexpr constinit continue decltype default delete do dynamic_cast else enum explicit export
	extern false final for friend goto if inline mutable namespace new noexcept not not_eq nullptr operator or or_eq override
	private protected public register reinterpret_cast requires return sizeof static static_assert static_cast struct switch
	template this thread_local throw true try typedef typeid typename union using virtual volatile while xor xor_eq
	__asm__ __attribute__ __cluster_dims__ __constant__ __device__ __forceinline__ __global__ __grid_constant__ __host__
	__inline__ __launch_bounds__ __managed__ __noinline__ __restrict__ __restrict __shared__ __volatile__`

const cppTypes = `auto bool char char8_t char16_t char32_t double float int long short signed unsigned void wchar_t
	int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t intptr_t uintptr_t ptrdiff_t size_t ssize_t
	half half2 __half __half2 __nv_bfloat16 __nv_bfloat162 nv_bfloat16 nv_bfloat162 __nv_fp8_e4m3 __nv_fp8_e5m2 dim3
	char2 char4 uchar2 uchar4 short2 short4 int2 int3 int4 uint uint2 uint3 uint4 float2 float3 float4 double2 longlong2
	cudaError_t cudaStream_t cudaEvent_t`

const pythonWords = `False None True and as assert async await break class continue def del elif else except finally for from
	global if import in is lambda match case nonlocal not or pass raise return try while with yield`

const pythonBuiltins = `abs all any bool bytearray bytes callable chr classmethod cls complex dict dir divmod enumerate eval exec
	filter float format frozenset getattr globals hasattr hash hex id input int isinstance issubclass iter len list locals map
	max memoryview min next object oct open ord pow print property range repr reversed round self set setattr slice sorted
	staticmethod str sum super tuple type vars zip ArithmeticError AssertionError AttributeError Exception ImportError IndexError
	KeyError NotImplementedError OSError OverflowError RuntimeError StopIteration TypeError ValueError ZeroDivisionError`
