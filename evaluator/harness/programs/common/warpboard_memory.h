// The memory of the submission's runner: shared regions behind the heap and behind DeviceBuffer.
#ifndef WARPBOARD_MEMORY_H
#define WARPBOARD_MEMORY_H

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "warpboard_heap.h"

namespace warpboard {

// HeapMemory places arrays in shared memory: in the program's heap, and on a device by the allocator of Device.
template <class Device>
class HeapMemory {
public:
    explicit HeapMemory(Device& device) : device_(device) {}

    void map(Region& region, int fd) {
        const bool mapped = region.kind == REGION_DEVICE ? device_.map(region, fd) : host_space().map(region, fd);
        close(fd);
        if (!mapped) {
            std::fprintf(stderr, "shared memory of %zu bytes cannot be mapped\n", region.size);
            std::_Exit(1);
        }
        if (region.kind == REGION_HOST && region.role == REGION_ANSWERS) host_space().serve(region);
    }

    // Unmaps regions, except memory that the submission still uses.
    void drop(const std::vector<Region>& regions) {
        const bool free = host_space().retire();
        for (const Region& region : regions) {
            if (region.kind == REGION_DEVICE) device_.drop(region);
            else if (region.role == REGION_INPUTS || free) host_space().unmap(region);
        }
    }

    // Returns memory of the answers' region for a copy of an array, until give_copies. Returns null if the region is
    // full.
    void* take(bool on_device, size_t bytes) {
        void* memory = on_device ? device_.take(bytes) : host_space().take(bytes);
        if (memory != nullptr) copies_.push_back({on_device, memory});
        return memory;
    }

    // Returns the size in bytes of an answers' region that could have served all allocations so far.
    size_t wanted() { return std::max(host_space().wanted(), device_.wanted()); }

    void copy(bool on_device, void* to, const void* from, size_t bytes) {
        if (on_device) device_.copy(to, from, bytes);
        else std::memcpy(to, from, bytes);
    }

    void give_copies() {
        for (const Copy& c : copies_) {
            if (c.on_device) device_.give(c.memory);
            else host_space().give(c.memory, false);
        }
        copies_.clear();
    }

    // Makes the next allocation of exactly this many bytes return the given address.
    static void place_next(void* address, size_t bytes) { next_allocation = {bytes > 0 ? address : nullptr, bytes}; }

    static void poison(bool on) { poison_frees.store(on, std::memory_order_relaxed); }

private:
    struct Copy {
        bool on_device;
        void* memory;
    };

    Device& device_;
    std::vector<Copy> copies_;
};

}  // namespace warpboard

#endif
