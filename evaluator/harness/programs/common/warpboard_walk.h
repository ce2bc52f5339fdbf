// The allowed types of input_t and output_t, and access to their members.
#ifndef WARPBOARD_WALK_H
#define WARPBOARD_WALK_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "warpboard_fields.h"

namespace warpboard {

// A task's type can list its members: auto members(Mine& value) { return std::tie(value.a, value.b); }
template <class T>
auto ties(int) -> decltype(members(std::declval<T&>()), std::true_type{});
template <class T>
std::false_type ties(...);
template <class T>
constexpr bool has_members = decltype(ties<T>(0))::value;

// IsDeviceArray is true for arrays on a device; they have data(), size() and view(pointer, size).
template <class T>
struct IsDeviceArray : std::false_type {};

template <class T>
struct IsTuple : std::false_type {};
template <class... T>
struct IsTuple<std::tuple<T...>> : std::true_type {};
template <class A, class B>
struct IsTuple<std::pair<A, B>> : std::true_type {};

// Fixed is true for arrays with a length in the type.
template <class T>
struct Fixed : std::false_type {};
template <class T, size_t N>
struct Fixed<std::array<T, N>> : std::true_type {
    using Element = T;
};
template <class T, size_t N>
struct Fixed<T[N]> : std::true_type {
    using Element = T;
};

// Sized is true for containers with a length: vectors and strings.
template <class T>
struct Sized : std::false_type {};
template <class T, class Allocator>
struct Sized<std::vector<T, Allocator>> : std::true_type {
    using Element = T;
};
template <class T, class Traits, class Allocator>
struct Sized<std::basic_string<T, Traits, Allocator>> : std::true_type {
    using Element = T;
};
template <class T>
constexpr bool is_string = false;
template <class T, class Traits, class Allocator>
constexpr bool is_string<std::basic_string<T, Traits, Allocator>> = true;

// Detects trivially copyable classes that act as pointers (views, spans, iterators), by their member type named
// pointer.
template <class T, class = void>
struct IsView : std::false_type {};
template <class T>
struct IsView<T, std::void_t<typename T::pointer>> : std::is_trivially_copyable<T> {};
template <class T, size_t N>
struct IsView<std::array<T, N>> : std::false_type {};

template <class T>
constexpr bool is_pointer = std::is_pointer_v<T> || std::is_member_pointer_v<T> || std::is_null_pointer_v<T>;

template <class T>
constexpr bool has_fields = std::is_class_v<T> && std::is_aggregate_v<T> && field_count<T> <= most_fields &&
                            initialisers<T>() < most_initialisers;

// True for types that can be copied as bytes: trivially copyable, and without pointers as far as this can be detected.
template <class T>
constexpr bool is_plain();

template <class Tuple>
struct AllPlain;
template <class... T>
struct AllPlain<std::tuple<T&...>> : std::bool_constant<(is_plain<T>() && ...)> {};

template <class T>
constexpr bool is_plain() {
    if constexpr (!std::is_trivially_copyable_v<T> || is_pointer<T> || has_members<T> || std::is_const_v<T>) {
        return false;
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
        return true;
    } else if constexpr (Fixed<T>::value) {
        return is_plain<typename Fixed<T>::Element>();
    } else if constexpr (IsView<T>::value || std::is_union_v<T>) {
        return false;
    } else if constexpr (has_fields<T>) {
        return AllPlain<decltype(fields(std::declval<T&>()))>::value;
    } else {
        return std::is_class_v<T>;  // for example __half and std::complex
    }
}

// True for blocks: vectors and strings whose elements are contiguous and can be copied as bytes.
template <class T>
constexpr bool is_block() {
    if constexpr (!Sized<T>::value) return false;
    else return is_plain<typename Sized<T>::Element>() && !std::is_same_v<T, std::vector<bool>>;
}

template <class>
constexpr bool never = false;

// Calls visit with each member of a value that is neither plain, nor a block, nor a device array, nor a vector.
template <class T, class Visit>
void each_member(T& value, Visit&& visit) {
    if constexpr (has_members<T>) {
        std::apply([&](auto&... member) { (visit(member), ...); }, members(value));
    } else if constexpr (Fixed<T>::value) {
        for (auto& element : value) visit(element);
    } else if constexpr (IsTuple<T>::value) {
        std::apply([&](auto&... member) { (visit(member), ...); }, value);
    } else if constexpr (is_pointer<T> || IsView<T>::value) {
        static_assert(never<T>,
                      "input_t and output_t may not hold pointers, spans or views: the kernel runs in a process of its own. "
                      "Write std::vector<T> for memory of the host or DeviceBuffer<T> for memory of the GPU");
    } else if constexpr (std::is_const_v<T>) {
        static_assert(never<T>, "input_t and output_t may not have const members: they are filled in. Leave out the const");
    } else if constexpr (std::is_same_v<T, std::vector<bool>>) {
        static_assert(never<T>, "std::vector<bool> has no elements that could be handed over: write std::vector<uint8_t>");
    } else if constexpr (has_fields<T>) {
        std::apply([&](auto&... member) { (visit(member), ...); }, fields(value));
    } else {
        static_assert(never<T>,
                      "input_t or output_t has a member that cannot be handed to another process. Make it of numbers, enums, std::array, "
                      "std::string, std::vector, DeviceBuffer and plain structs of these with at most 24 members, or write beside the type: "
                      "auto members(Type& value) { return std::tie(value.first, value.second); }");
    }
}

// Returns a pointer to the first element of a block (see is_block).
template <class T>
auto* block_data(T& block) {
    return const_cast<std::remove_const_t<typename Sized<T>::Element>*>(block.data());
}

// Creates a container of this many zero elements.
template <class T>
T sized(size_t count) {
    if constexpr (is_string<T>) return T(count, typename Sized<T>::Element{});
    else return T(count);
}

}  // namespace warpboard

#endif
