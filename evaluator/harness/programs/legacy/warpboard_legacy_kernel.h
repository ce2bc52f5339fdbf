// The only call of the submission's custom_kernel, by value or by reference. Include after the submission.
#ifndef WARPBOARD_LEGACY_KERNEL_H
#define WARPBOARD_LEGACY_KERNEL_H

#include <type_traits>
#include <utility>

namespace warpboard {

template <class Input>
auto takes_its_own(int) -> decltype(custom_kernel(std::declval<Input>()), std::true_type{});
template <class Input>
std::false_type takes_its_own(...);

struct LegacyKernel {
    // Moves the input if the kernel takes it by value, so that copying it is not the kernel's time, and otherwise
    // passes a reference.
    template <class Input, class Stop>
    static void call(Input& input, Stop stop) {
        if constexpr (decltype(takes_its_own<Input>(0))::value) stop(custom_kernel(std::move(input)));
        else stop(custom_kernel(input));
    }
};

}  // namespace warpboard

#endif
