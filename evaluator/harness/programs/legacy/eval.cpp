// Warpboard's harness for tasks of the older form in C++ on the CPU.
#include <chrono>
#include <iostream>

#include "warpboard_legacy.h"

namespace warpboard {

struct Host {
    void synchronize() {}
    void flush() {}
    void begin_range() {}
    void end_range() {}
};

}  // namespace warpboard

#include "reference.cuh"
#include "warpboard_reference.h"
#include "train.cuh"
#include "warpboard_kernel.h"

int main(int argc, char** argv) {
    return warpboard::legacy_main<input_t, output_t, warpboard::Reference, warpboard::Kernel, warpboard::Host>(argc, argv);
}
