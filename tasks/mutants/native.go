package mutants

import "strings"

// nativeMutant returns C++ or CUDA source in which the correct kernel has another name, and a function with its name
// calls it between the statements of w.
func nativeMutant(right string, w codeAroundCall, device string) string {
	if !strings.Contains(w.helperFunctions, "void spoil(") {
		device = ""
	}
	return "#define custom_kernel right_kernel\n" + right + "\n#undef custom_kernel\n" + nativeIncludes + w.helperFunctions + device +
		strings.NewReplacer("BEFORE", w.codeBefore, "AFTER", w.codeAfter).Replace(nativeKernelTemplate)
}

const nativeIncludes = `
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>
`

const nativeKernelTemplate = `
output_t custom_kernel(input_t data) {
    BEFORE
    output_t answer = right_kernel(std::move(data));
    AFTER
    return answer;
}
`

const elementwiseHelpers = `
// lower rounds a number down to ten bits of fraction.
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

// nativeStaleSource is C++ code that replaces the output by the previous call's, truncated or repeated to the same
// size.
const nativeStaleSource = `
template <class Array>
static void spoil(Array& answer) {
    static std::vector<std::decay_t<decltype(answer[0])>> before;
    const Array right = answer;
    for (std::size_t i = 0; i < right.size() && !before.empty(); ++i) answer[i] = before[i % before.size()];
    before.assign(right.begin(), right.end());
}
`

// deviceSpoilSource is CUDA C++ code that changes an output in GPU memory: it copies it to the host and back.
const deviceSpoilSource = `
template <class T>
static void spoil(DeviceBuffer<T>& answer) {
    std::vector<T> all(answer.size());
    cudaMemcpy(all.data(), answer.data(), answer.bytes(), cudaMemcpyDeviceToHost);
    spoil(all);
    cudaMemcpy(answer.data(), all.data(), answer.bytes(), cudaMemcpyHostToDevice);
}
`

// nativeZeroLargestSource is C++ code that sets the largest number of the input to zero. It includes headers of the
// harness of Warpboard: for a task with its own harness the mutant does not compile, and is not evaluated.
const nativeZeroLargestSource = `
#include "warpboard_walk.h"
#ifdef __CUDACC__
#include "warpboard_device_array.h"
#endif

// The largest number in an array of the input, floating-point ones before others, and how to make it zero.
struct LargestTerm {
    std::pair<bool, double> weight{false, 0.0};
    std::function<void()> leave_out = [] {};
};

template <class T, class Clear>
static void weigh(const T* all, std::size_t count, LargestTerm& found, Clear clear) {
    for (std::size_t i = 0; i < count; ++i) {
        const std::pair<bool, double> weight{!std::is_integral_v<T>, std::fabs(static_cast<double>(all[i]))};
        if (!(weight.second > 0 && weight > found.weight)) continue;  // not a number is no term
        found.weight = weight;
        found.leave_out = [=] { clear(i); };
    }
}

template <class T>
static void look(T& value, LargestTerm& found) {
    if constexpr (warpboard::IsDeviceArray<T>::value) {
#ifdef __CUDACC__
        using Element = std::decay_t<decltype(*value.data())>;
        if constexpr (std::is_convertible_v<Element, double>) {
            std::vector<Element> all(value.size());
            value.copy_to(all.data());
            Element* device = value.data();
            weigh(all.data(), all.size(), found, [device](std::size_t i) {
                const Element zero{};
                cudaMemcpy(device + i, &zero, sizeof zero, cudaMemcpyHostToDevice);
            });
        }
#endif
    } else if constexpr (warpboard::is_block<T>()) {
        using Element = typename warpboard::Sized<T>::Element;
        if constexpr (!warpboard::is_string<T> && std::is_convertible_v<Element, double>) {
            Element* all = warpboard::block_data(value);
            weigh(all, value.size(), found, [all](std::size_t i) { all[i] = Element{}; });
        }
    } else if constexpr (warpboard::Sized<T>::value) {
        for (auto& part : value) look(part, found);
    } else if constexpr (!warpboard::is_plain<T>()) {
        warpboard::each_member(value, [&](auto& part) { look(part, found); });
    }
}

static void leave_out_a_term(input_t& data) {
    LargestTerm found;
    look(data, found);
    found.leave_out();
}
`
