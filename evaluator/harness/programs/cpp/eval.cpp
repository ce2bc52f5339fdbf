// Warpboard's harness for C++ on the CPU: steady clock, caches flushed before every timed call.
#include <unistd.h>

#include <cstring>
#include <vector>

#include "task.h"
#include "utils.h"

#if __has_include("reference.h")
#include "reference.h"
#elif __has_include("reference.hpp")
#include "reference.hpp"
#else
#include "reference.cuh"
#endif

#include "warpboard_main.h"

namespace {

class Host {
public:
    static constexpr double warm_up_ns = 0;  // one call

    Host() : cold_(flush_bytes()) {}

    void synchronize() {}
    void poison() {}  // freed memory was poisoned when it was freed
    void begin_range() {}
    void end_range() {}

    // Starts the clock with caches full of something else.
    void start() {
        std::memset(cold_.data(), ++fill_, cold_.size());
        begin_ = warpboard::now_ns();
    }

    void stop() { end_ = warpboard::now_ns(); }
    double elapsed_ns() const { return end_ - begin_; }

private:
    // Twice the last-level cache, within what is sensible when the system does not tell it or tells
    // that of a whole socket.
    static size_t flush_bytes() {
        long cache = sysconf(_SC_LEVEL3_CACHE_SIZE);
        return std::min<long>(std::max<long>(2 * cache, 16L << 20), 64L << 20);
    }

    std::vector<unsigned char> cold_;
    unsigned char fill_ = 0;
    double begin_ = 0;
    double end_ = 0;
};

}  // namespace

int main(int argc, char** argv) { return warpboard::main<Host>(argc, argv); }
