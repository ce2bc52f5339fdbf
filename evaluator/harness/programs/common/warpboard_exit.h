// Exit codes of the programs, and the check of CUDA calls that ends a program.
#ifndef WARPBOARD_EXIT_H
#define WARPBOARD_EXIT_H

#include <cstdio>
#include <cstdlib>

// Exit codes that distinguish the reasons for which the programs end.
namespace ExitCodes {
enum ExitCode : int {
    EXIT_USAGE = 2,
    EXIT_CUDA_API = 110,
    EXIT_PIPE_FAILED = 111,
    EXIT_VALIDATE_FAIL = 112,
    EXIT_TEST_SPEC = 113,
    EXIT_RUNNER_GONE = 115,
    EXIT_REFUSED = 116,
    EXIT_TASK_FAILED = 117,
};
}

#ifdef __CUDACC__

#include <cuda_runtime.h>

#define WARPBOARD_CUDA(...) ::warpboard::cuda_check((__VA_ARGS__), #__VA_ARGS__, __FILE__, __LINE__)

#ifdef WARPBOARD_JUDGE
#include <stdexcept>
#include <string>
#endif

namespace warpboard {

// Ends the program with the exit code for CUDA errors and a message with the call and its error. In the judge it
// throws, and the report says that the task failed.
inline void cuda_check(cudaError_t status, const char* call, const char* file, int line) {
    if (status == cudaSuccess) return;
#ifdef WARPBOARD_JUDGE
    throw std::runtime_error(std::string(file) + ":" + std::to_string(line) + ": " + call + ": " + cudaGetErrorString(status) +
                             " (" + cudaGetErrorName(status) + ")");
#endif
    std::fprintf(stderr, "%s:%d: %s failed: %s (%s)\n", file, line, call, cudaGetErrorName(status),
                 cudaGetErrorString(status));
    std::fflush(nullptr);
    std::_Exit(ExitCodes::EXIT_CUDA_API);
}

}  // namespace warpboard

#endif  // __CUDACC__

#endif
