// Prints, as a report, how far answers of several types are from references.
#include <array>
#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "warpboard_host.h"

// Floats of 16 bits as CUDA's headers have them: classes that become a float.
template <int Drop>
class Small {
public:
    Small() = default;
    explicit operator float() const;

private:
    unsigned short bits_;
};
using Half = Small<0>;
using Brain = Small<1>;
template <>
Half::operator float() const {
    const int exponent = bits_ >> 10 & 31, digits = bits_ & 1023;
    return exponent == 0 ? std::ldexp(float(digits), -24) : std::ldexp(float(1024 + digits), exponent - 25);
}
template <>
Brain::operator float() const {
    const unsigned wide = unsigned{bits_} << 16;
    float value;
    std::memcpy(&value, &wide, sizeof value);
    return value;
}
template <class T>
T bits(unsigned short pattern) {
    T value;
    std::memcpy(static_cast<void*>(&value), &pattern, sizeof value);
    return value;
}

struct input_t {
    int way;
};
struct Mixed {
    int count;
    std::string name;
    std::vector<float> values;
    std::array<double, 1> exact;
};

static std::vector<double> reference_fp64(const input_t& input) {
    const double huge = 1e39, nan = std::nan("");
    switch (input.way) {
        case 0: return {1, huge, nan, 0, 0, 3};           // floats
        case 1: return {1 + 0x1p-11, 0x1p-25};             // halves
        case 2: return {1 + 0x1p-8};                       // brains
        case 3: return {1, 2 + 0x1p-23, 4};                // a struct
        case 4: return {1, 1 + 0x1p-23};                   // a complex number
        default: return {1};
    }
}

#include "warpboard_numerics.h"

template <class Output>
void say(warpboard::Report& report, int way, Output output) {
    warpboard::log_numerics(report, "test." + std::to_string(way) + ".numerics.", input_t{way}, output);
}

int main() {
    warpboard::Report report;
    const float infinity = std::numeric_limits<float>::infinity();
    say(report, 0, std::vector<float>{1, infinity, std::nanf(""), 0, -0.0f, infinity});
    say(report, 1, std::vector<Half>{bits<Half>(0x3C00), bits<Half>(0)});
    say(report, 2, std::vector<Brain>{bits<Brain>(0x3F80)});
    say(report, 3, Mixed{7, "seven", {1, 2}, {4}});
    say(report, 4, std::complex<float>(1, 1));
    say(report, 5, std::vector<float>{1, 2});
    say(report, 6, std::vector<int>{1, 2});
}
