// NVTX as the harness uses it. A range must begin behind the gate: Nsight Compute replays what is in it, and takes back what the
// host wrote meanwhile, so that the gate would wait for its release for ever.
#pragma once

#include <cstdlib>

#include "cuda_runtime.h"

inline int nvtxRangePushA(const char*) {
    if (!fake::behind_gate()) std::_Exit(97);
    return 0;
}
inline int nvtxRangePop() { return 0; }
