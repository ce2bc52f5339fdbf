// Calls the submission's custom_kernel, with its argument by value or by reference. Include after the submission.
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
    // Calls custom_kernel. If it takes its argument by value, the input is moved, so that copying it does not count as
    // the kernel's time; otherwise a reference is passed.
    template <class Input, class Stop>
    static void call(Input& input, Stop stop) {
        if constexpr (decltype(takes_its_own<Input>(0))::value) stop(custom_kernel(std::move(input)));
        else stop(custom_kernel(input));
    }
};

}  // namespace warpboard

#endif
