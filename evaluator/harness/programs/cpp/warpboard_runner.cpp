// The runner of a C++ task: the program that has the submission.
#include "task.h"
#include "utils.h"

// The submission's function, which is compiled separately and linked.
output_t custom_kernel(input_t data);

#include "warpboard_host.h"
#include "warpboard_memory.h"
#include "warpboard_runner.h"

namespace {

struct Kernel {
    template <class Stop>
    static void call(input_t& input, Stop stop) {
        stop(custom_kernel(std::move(input)));
    }
};

}  // namespace

int main() {
    using namespace warpboard;
    return run_runner([] {
        HostRunner device;
        HeapMemory<HostRunner> memory(device);
        Runner<input_t, output_t, Kernel, HostRunner, HeapMemory<HostRunner>>(channel_fd, page_fd, device, memory).serve();
    });
}
