// Cases and their arguments: spec lines, random seeds, and calls of generate_input with the arguments in the order of
// ArgumentNames.
#ifndef WARPBOARD_CASES_H
#define WARPBOARD_CASES_H

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpboard_exit.h"
#include "warpboard_random.h"

namespace warpboard {

[[noreturn]] inline void bad_spec(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::fflush(nullptr);
    std::_Exit(ExitCodes::EXIT_TEST_SPEC);
}

// Case is a line of the cases file, with its arguments in the order of the line.
struct Case {
    std::string spec;
    std::vector<std::pair<std::string, std::string>> arguments;

    const std::string* find(const std::string& name) const {
        for (const auto& [key, value] : arguments) {
            if (key == name) return &value;
        }
        return nullptr;
    }
};

inline std::string trim(const std::string& text) {
    const char* blanks = " \t\r\n";
    size_t first = text.find_first_not_of(blanks);
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

inline bool is_name(const std::string& text) {
    for (size_t i = 0; i < text.size(); ++i) {
        char c = text[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        bool digit = c >= '0' && c <= '9';
        if (!letter && !(digit && i > 0)) return false;
    }
    return !text.empty();
}

// Reads "key: value; key: value". A value is any text without ';': integers, floats, words, lists.
inline Case parse_case(const std::string& line) {
    Case result{line, {}};
    for (size_t begin = 0; begin <= line.size();) {
        size_t end = std::min(line.find(';', begin), line.size());
        std::string part = line.substr(begin, end - begin);
        size_t colon = part.find(':');
        std::string key = trim(part.substr(0, colon));
        std::string value = colon == std::string::npos ? "" : trim(part.substr(colon + 1));
        if (!is_name(key) || value.empty()) bad_spec("invalid case '" + line + "': '" + part + "'");
        result.arguments.emplace_back(key, value);
        begin = end + 1;
    }
    return result;
}

inline std::vector<Case> read_cases(const char* path) {
    std::FILE* file = std::fopen(path, "r");
    if (file == nullptr) bad_spec(std::string("cannot open the file of cases ") + path);
    std::string text;
    char buffer[4096];
    for (size_t n; (n = std::fread(buffer, 1, sizeof buffer, file)) > 0;) text.append(buffer, n);
    std::fclose(file);

    std::vector<Case> cases;
    for (size_t begin = 0; begin < text.size();) {
        size_t end = std::min(text.find('\n', begin), text.size());
        std::string line = text.substr(begin, end - begin);
        if (!trim(line).empty()) cases.push_back(parse_case(line));
        begin = end + 1;
    }
    return cases;
}

template <class T>
T convert(const Case& c, const std::string& name, const std::string& value) {
    auto refuse = [&] { bad_spec("case '" + c.spec + "': '" + value + "' is no fitting value for " + name); };
    if constexpr (std::is_same_v<T, bool>) {
        if (value == "True" || value == "true" || value == "1") return true;
        if (value != "False" && value != "false" && value != "0") refuse();
        return false;
    } else if constexpr (std::is_integral_v<T>) {
        using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
        errno = 0;
        char* end = nullptr;
        Wide number;
        if constexpr (std::is_signed_v<T>) number = std::strtoll(value.c_str(), &end, 10);
        else number = std::strtoull(value.c_str(), &end, 10);
        if (errno != 0 || *end != '\0' || static_cast<Wide>(static_cast<T>(number)) != number) refuse();
        if (std::is_unsigned_v<T> && value[0] == '-') refuse();
        return static_cast<T>(number);
    } else if constexpr (std::is_floating_point_v<T>) {
        char* end = nullptr;
        double number = std::strtod(value.c_str(), &end);
        if (*end != '\0') refuse();
        return static_cast<T>(number);
    } else {
        return T(value);
    }
}

template <class T, class Names>
T argument(const Case& c, const Names& names, size_t index) {
    const std::string name(names[index]);
    const std::string* value = c.find(name);
    if (value == nullptr) bad_spec("case '" + c.spec + "' has no argument '" + name + "'");
    return convert<T>(c, name, *value);
}

template <class Result, class Names, class... Parameters, size_t... Index>
Result generate(Result (*function)(Parameters...), const Names& names, const Case& c,
                std::index_sequence<Index...>) {
    return function(argument<std::decay_t<Parameters>>(c, names, Index)...);
}

// Calls generate_input with its arguments, converted to its parameters' types.
template <class Result, class Names, class... Parameters>
Result generate(Result (*function)(Parameters...), const Names& names, const Case& c) {
    if (names.size() != sizeof...(Parameters)) {
        bad_spec("ArgumentNames in task.h names " + std::to_string(names.size()) +
                 " arguments, and generate_input takes " + std::to_string(sizeof...(Parameters)));
    }
    return generate(function, names, c, std::index_sequence_for<Parameters...>{});
}

// Returns the number of random bits in a seed whose parameter has type T.
template <class T>
constexpr int seed_bits() {
    if constexpr (std::is_same_v<T, bool>) return 1;
    else if constexpr (std::is_integral_v<T>) return static_cast<int>(8 * sizeof(T)) - std::is_signed_v<T>;
    else if constexpr (std::is_floating_point_v<T>) return 24;
    else return 31;
}

// Returns a random seed in the range of generate_input's argument "seed", or an empty string if it has none.
template <class Result, class Names, class... Parameters>
std::string fresh_seed(Result (*)(Parameters...), const Names& names) {
    const int bits[] = {0, seed_bits<std::decay_t<Parameters>>()...};
    for (size_t i = 0; i < names.size() && i < sizeof...(Parameters); ++i) {
        if (std::string(names[i]) != "seed") continue;
        uint64_t seed = 0;
        draw_random(&seed, sizeof seed);
        return std::to_string(seed >> (64 - bits[i + 1]));
    }
    return "";
}

}  // namespace warpboard

#endif
