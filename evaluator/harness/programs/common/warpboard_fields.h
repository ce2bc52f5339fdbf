// The members of an aggregate as a tuple of references, without reflection: the type's initialisers show their number,
// and structured bindings name them.
#ifndef WARPBOARD_FIELDS_H
#define WARPBOARD_FIELDS_H

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

namespace warpboard {

// Anything converts to an initialiser of any type.
struct Anything {
    template <class T>
    operator T() const;
};
template <size_t>
using AnythingAt = Anything;

template <class T, size_t... Before, size_t... Inside, size_t... After>
auto takes(std::index_sequence<Before...>, std::index_sequence<Inside...>, std::index_sequence<After...>, int)
    -> decltype(T{AnythingAt<Before>{}..., {AnythingAt<Inside>{}...}, AnythingAt<After>{}...}, std::true_type{});
template <class T, class... Any>
std::false_type takes(Any...);

template <class T, size_t... Index>
auto takes_flat(std::index_sequence<Index...>, int) -> decltype(T{AnythingAt<Index>{}...}, std::true_type{});
template <class T>
std::false_type takes_flat(...);

constexpr size_t most_fields = 24;
constexpr size_t most_initialisers = 64;  // at most this many in an aggregate; each array element is one

template <class T, size_t N = most_initialisers>
constexpr size_t initialisers() {
    if constexpr (N == 0 || decltype(takes_flat<T>(std::make_index_sequence<N>{}, 0))::value) return N;
    else return initialisers<T, N - 1>();
}

// Returns the number of initialisers of the member whose first initialiser has the index At. Only an array has more
// than one. A class with as many members accepts them in braces, too, but then counts as one initialiser of the
// aggregate, which distinguishes it.
template <class T, size_t At, size_t All, size_t Size>
constexpr size_t taken_at() {
    if constexpr (Size <= 1) {
        return 1;
    } else {
        using Before = std::make_index_sequence<At>;
        using Inside = std::make_index_sequence<Size>;
        if constexpr (decltype(takes<T>(Before{}, Inside{}, std::make_index_sequence<All - At - Size>{}, 0))::value &&
                      !decltype(takes<T>(Before{}, Inside{}, std::make_index_sequence<All - At - Size + 1>{}, 0))::value) {
            return Size;
        } else {
            return taken_at<T, At, All, Size - 1>();
        }
    }
}

template <class T, size_t At, size_t All>
constexpr size_t fields_from() {
    if constexpr (At >= All) return 0;
    else return 1 + fields_from<T, At + taken_at<T, At, All, All - At>(), All>();
}

template <class T>
constexpr size_t field_count = fields_from<T, 0, initialisers<T>()>();

// Returns a tuple of references to the members of an aggregate that has at most most_fields.
template <class T>
auto fields(T& value) {
    constexpr size_t count = field_count<T>;
    if constexpr (count == 0) {
        return std::tuple<>();
    } else if constexpr (count == 1) {
        auto& [m1] = value;
        return std::tie(m1);
    } else if constexpr (count == 2) {
        auto& [m1, m2] = value;
        return std::tie(m1, m2);
    } else if constexpr (count == 3) {
        auto& [m1, m2, m3] = value;
        return std::tie(m1, m2, m3);
    } else if constexpr (count == 4) {
        auto& [m1, m2, m3, m4] = value;
        return std::tie(m1, m2, m3, m4);
    } else if constexpr (count == 5) {
        auto& [m1, m2, m3, m4, m5] = value;
        return std::tie(m1, m2, m3, m4, m5);
    } else if constexpr (count == 6) {
        auto& [m1, m2, m3, m4, m5, m6] = value;
        return std::tie(m1, m2, m3, m4, m5, m6);
    } else if constexpr (count == 7) {
        auto& [m1, m2, m3, m4, m5, m6, m7] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7);
    } else if constexpr (count == 8) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8);
    } else if constexpr (count == 9) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9);
    } else if constexpr (count == 10) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10);
    } else if constexpr (count == 11) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11);
    } else if constexpr (count == 12) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12);
    } else if constexpr (count == 13) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13);
    } else if constexpr (count == 14) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14);
    } else if constexpr (count == 15) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15);
    } else if constexpr (count == 16) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16);
    } else if constexpr (count == 17) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17);
    } else if constexpr (count == 18) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18);
    } else if constexpr (count == 19) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19);
    } else if constexpr (count == 20) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20);
    } else if constexpr (count == 21) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21);
    } else if constexpr (count == 22) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22);
    } else if constexpr (count == 23) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23);
    } else if constexpr (count == 24) {
        auto& [m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24] = value;
        return std::tie(m1, m2, m3, m4, m5, m6, m7, m8, m9, m10, m11, m12, m13, m14, m15, m16, m17, m18, m19, m20, m21, m22, m23, m24);
    }
}

}  // namespace warpboard

#endif
