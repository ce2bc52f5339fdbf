package mutants

import (
	"strings"

	"warpboard/tasks"
)

// Mutant is a submission that is wrong on purpose.
type Mutant struct {
	Name   string // "one percent off"
	Source []byte
}

// spoil is one way to make an answer wrong: as an expression of one element x at i of n in C++, and as statements on the
// answer in Python.
type spoil struct{ name, cpp, python string }

// spoils are what a check is most often blind for.
func spoils() []spoil {
	return []spoil{
		{"one percent off", "x * 1.01", "answer[...] = (right * 1.01).astype(answer.dtype) if numpy else right * 1.01"},
		{"all zeros", "x * 0", "answer[...] = 0"},
		{"last element wrong", "i + 1 == n ? x + x + 1 : x", "flat = answer.reshape(-1); flat[-1] = flat[-1] * 2 + 1"},
		{"in reverse order", "right[n - 1 - i]", "answer[...] = right[::-1] if numpy else right.flip(0)"},
		{"half precision", "lower(x)", "answer[...] = right.astype('float16') if numpy else right.bfloat16()"},
		{"not a number", "i == n / 2 ? x * std::numeric_limits<double>::quiet_NaN() : x", "flat = answer.reshape(-1); flat[len(flat) // 2] = float('nan')"},
	}
}

// Of makes the mutants of a right submission.
func Of(lang tasks.Lang, right []byte) []Mutant {
	var list []Mutant
	for _, s := range spoils() {
		text := ""
		switch lang {
		case tasks.LangCPP:
			text = native(string(right), s.cpp, host)
		case tasks.LangCUDA:
			text = native(string(right), s.cpp, device)
		default:
			text = string(right) + strings.Replace(python, "SPOILED", s.python, 1)
		}
		list = append(list, Mutant{Name: s.name, Source: []byte(text)})
	}
	return list
}

// native renames the right kernel, so that the spoiling one can have its name.
func native(right, expression, end string) string {
	return "#define custom_kernel right_kernel\n" + right + "\n#undef custom_kernel\n" + strings.Replace(head, "SPOILED", expression, 1) + end
}

const head = `
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>
#include <vector>

// lower cuts a number to ten bits of fraction.
static double lower(double x) {
    float f = static_cast<float>(x);
    std::uint32_t bits;
    std::memcpy(&bits, &f, 4);
    bits &= 0xffffe000u;
    std::memcpy(&f, &bits, 4);
    return f;
}

template <class Array>
static void spoil(Array& answer) {
    const Array right = answer;
    const std::size_t n = right.size();
    for (std::size_t i = 0; i < n; ++i) {
        const double x = right[i];
        answer[i] = SPOILED;
    }
}
`

const host = `
output_t custom_kernel(input_t data) {
    output_t answer = right_kernel(std::move(data));
    spoil(answer);
    return answer;
}
`

const device = `
template <class T>
static void spoil(DeviceBuffer<T>& answer) {
    std::vector<T> all(answer.size());
    cudaMemcpy(all.data(), answer.data(), answer.bytes(), cudaMemcpyDeviceToHost);
    spoil(all);
    cudaMemcpy(answer.data(), all.data(), answer.bytes(), cudaMemcpyHostToDevice);
}

output_t custom_kernel(input_t data) {
    output_t answer = right_kernel(std::move(data));
    spoil(answer);
    return answer;
}
`

const python = `

_right_kernel = custom_kernel


def custom_kernel(data):
    answer = _right_kernel(data)
    numpy = type(answer).__module__ == "numpy"
    right = answer.copy() if numpy else answer.clone()
    SPOILED
    return answer
`
