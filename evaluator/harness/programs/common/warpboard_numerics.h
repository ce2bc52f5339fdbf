// The errors of an answer against the task's reference_fp64(input), which computes the same in double precision. The
// judge computes them from its copies, only in the test stage, and they decide nothing. warpboard_numerics.py defines
// the numbers. Include after the reference.
#ifndef WARPBOARD_NUMERICS_H
#define WARPBOARD_NUMERICS_H

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdio>
#include <cstring>
#include <exception>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpboard_report.h"
#include "warpboard_walk.h"

namespace warpboard {

// Format describes a floating-point type: the binary digits of its significand, with the implied one, and the binary
// exponent of its smallest normal number.
struct Format {
    int digits, least;
    bool operator==(const Format& o) const { return digits == o.digits && least == o.least; }
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;

// Reports whether a type is __half, __nv_bfloat16, or a float of 8 bits. It does not name these types, because a task
// need not include their headers.
template <class T>
constexpr bool is_small_float() {
    if constexpr (std::is_class_v<T> && std::is_trivially_copyable_v<T> && sizeof(T) <= 2) return std::is_constructible_v<float, T>;
    else return false;
}

// Returns the value of type T with this bit pattern, as a double.
template <class T>
double small_float(unsigned bits) {
    T value;
    std::memcpy(static_cast<void*>(&value), &bits, sizeof value);
    return static_cast<float>(value);
}

// Returns the format of a type. For a small float it is found by comparing values: from 0 to twice the smallest normal
// number, adjacent values have equal distances.
template <class T>
Format format_of() {
    if constexpr (std::is_floating_point_v<T>) {
        using Known = std::conditional_t<std::is_same_v<T, float>, float, double>;
        return {std::numeric_limits<Known>::digits, std::numeric_limits<Known>::min_exponent - 1};
    } else {
        const double step = small_float<T>(1);
        int digits = 1;
        while (digits < static_cast<int>(8 * sizeof(T)) - 1 &&
               small_float<T>((1u << digits) + 1) - small_float<T>(1u << digits) == step) ++digits;
        return {digits, std::ilogb(step) + digits - 1};
    }
}

// Numbers collects the floating-point numbers of an answer, member by member, as doubles.
class Numbers {
public:
    struct Run {
        size_t end;
        Format format;
    };
    const std::vector<double>& values() const { return values_; }
    const std::vector<Run>& runs() const { return runs_; }

    template <class T>
    void add(T& value) {
        if constexpr (IsDeviceArray<T>::value) {
            using Element = std::remove_cv_t<std::remove_pointer_t<decltype(value.data())>>;
            if constexpr (!std::is_integral_v<Element>) {
                std::vector<Element> host(value.size());
                value.copy_to(host.data());
                add(host);
            }
        } else if constexpr (std::is_floating_point_v<T>) {
            push(static_cast<double>(value), format_of<T>());
        } else if constexpr (is_small_float<T>()) {
            static const Format format = format_of<T>();
            push(static_cast<float>(value), format);
        } else if constexpr (is_complex<T>) {
            auto real = value.real(), imaginary = value.imag();
            add(real);
            add(imaginary);
        } else if constexpr (std::is_empty_v<T> || std::is_arithmetic_v<T> || std::is_enum_v<T> || is_string<T>) {
        } else if constexpr (Sized<T>::value && !std::is_same_v<T, std::vector<bool>>) {
            for (auto& element : value) add(element);
        } else if constexpr (Fixed<T>::value || IsTuple<T>::value || has_members<T> || has_fields<T> || !is_plain<T>()) {
            each_member(value, [this](auto& member) { add(member); });
        }
    }

private:
    void push(double value, Format format) {
        values_.push_back(value);
        if (runs_.empty() || !(runs_.back().format == format)) runs_.push_back({0, format});
        runs_.back().end = values_.size();
    }

    std::vector<double> values_;
    std::vector<Run> runs_;
};

// Errors compares the numbers of an answer with equally many numbers of a reference.
class Errors {
public:
    Errors(const Numbers& answer, const Numbers& reference) {
        size_t i = 0;
        for (const Numbers::Run& run : answer.runs()) {
            for (; i < run.end; ++i) add(i, answer.values()[i], reference.values()[i], run.format);
        }
    }

    void log(Report& report, const std::string& prefix) {
        report.log(prefix + "elements", ulps_.size());
        report.log(prefix + "unlike", unlike_);
        report.log(prefix + "worst", "[" + std::to_string(worst_) + "]");
        report.log(prefix + "got", text(got_, digits_ == 53 ? 17 : 9));
        report.log(prefix + "want", text(want_, 17));
        log(report, prefix + "relative", relative_);
        log(report, prefix + "ulp", ulps_);
    }

private:
    void add(size_t i, double got, double want, Format format) {
        const double smallest = std::ldexp(1.0, format.least), size = std::max(std::fabs(want), smallest);
        // Numbers above this limit round to infinity in the answer's type.
        const double beyond = std::ldexp(1 - std::ldexp(1.0, -format.digits - 1), 2 - format.least);
        const bool finite = std::isfinite(got) && std::isfinite(want);
        const bool same = got == want || (std::isnan(got) && std::isnan(want)) ||
                          (std::isinf(got) && std::fabs(want) >= beyond && std::signbit(got) == std::signbit(want));
        const double distance = finite && !same ? std::fabs(got - want) : 0;
        relative_.push_back(finite ? distance / size : 0);
        ulps_.push_back(finite ? distance / std::ldexp(1.0, std::ilogb(size) + 1 - format.digits) : 0);
        const bool unlike = !finite && !same;
        unlike_ += unlike;
        const double off = unlike ? std::numeric_limits<double>::infinity() : ulps_.back();
        if (off > most_) {
            most_ = off, worst_ = i, got_ = got, want_ = want, digits_ = format.digits;
        }
    }

    // Reports the maximum and the 99th percentile.
    static void log(Report& report, const std::string& name, std::vector<double>& values) {
        constexpr double largest = 1e300;
        const size_t rank = (99 * values.size() + 99) / 100 - 1;
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
        report.log(name + "_p99", std::min(values[rank], largest));
        report.log(name + "_max", std::min(*std::max_element(values.begin(), values.end()), largest));
    }

    static std::string text(double value, int digits) {
        char buffer[40];
        std::snprintf(buffer, sizeof buffer, "%.*g", digits, value);
        return buffer;
    }

    std::vector<double> relative_, ulps_;
    size_t unlike_ = 0, worst_ = 0;
    double most_ = -1, got_ = 0, want_ = 0;
    int digits_ = 0;
};

template <class Input>
auto has_fp64(int) -> decltype(reference_fp64(std::declval<const Input&>()), std::true_type{});
template <class Input>
std::false_type has_fp64(...);

// Reports the errors of a right answer against the task's reference_fp64, if it has one. If reference_fp64 fails, the
// report gets a note instead.
template <class Input, class Output>
void log_numerics(Report& report, const std::string& prefix, const Input& input, Output& output) {
    if constexpr (decltype(has_fp64<Input>(0))::value) {
        try {
            Numbers answer, reference;
            answer.add(output);
            auto exact = reference_fp64(input);
            reference.add(exact);
            if (answer.values().empty()) return;
            if (answer.values().size() != reference.values().size()) {
                report.log(prefix + "note", "reference_fp64 gives " + std::to_string(reference.values().size()) +
                                                " floating-point numbers where the answer has " + std::to_string(answer.values().size()) + ".");
            } else if (reference.runs().size() > 1 || !(reference.runs()[0].format == format_of<double>())) {
                report.log(prefix + "note", std::string("reference_fp64 must give doubles."));
            } else {
                Errors(answer, reference).log(report, prefix);
            }
        } catch (const std::exception& e) {
            report.log(prefix + "note", std::string("reference_fp64 failed: ") + e.what());
        }
    }
}

}  // namespace warpboard

#endif
