// Warpboard's harness for tasks of the older form in C++ on the CPU.
#include "reference.cuh"
#include "train.cuh"

#include "warpboard_legacy.h"

namespace {

struct Host {
    void synchronize() {}
    void flush() {}
    void begin_range() {}
    void end_range() {}
};

}  // namespace

int main(int argc, char** argv) { return warpboard::legacy_main<Host>(argc, argv); }
