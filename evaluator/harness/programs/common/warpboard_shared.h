// Memory of the host that judge and runner share.
#ifndef WARPBOARD_SHARED_H
#define WARPBOARD_SHARED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace warpboard {

enum RegionKind : uint32_t { REGION_HOST = 0, REGION_DEVICE = 1 };
enum RegionRole : uint32_t { REGION_INPUTS = 0, REGION_ANSWERS = 1, REGION_SEALED = 2 };

// One stretch of memory that both map. On a device, base is not to be touched by the host.
struct Region {
    uint32_t kind = REGION_HOST;
    uint32_t role = REGION_INPUTS;
    size_t size = 0;
    unsigned char* base = nullptr;

    // Whether some bytes lie in it as a whole.
    bool holds(const void* data, size_t bytes) const {
        const auto at = reinterpret_cast<uintptr_t>(data), begin = reinterpret_cast<uintptr_t>(base);
        return base != nullptr && at >= begin && at - begin <= size && bytes <= size - (at - begin);
    }
    size_t offset_of(const void* data) const {
        return reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(base);
    }
};

constexpr size_t host_page = 4096;

inline size_t rounded(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// Makes memory that nobody can resize; a page that is missing would end its reader by a signal. Returns
// -1 if the system has none.
inline int make_shared_memory(size_t bytes) {
    int fd = memfd_create("warpboard", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return -1;
    if (ftruncate(fd, static_cast<off_t>(bytes)) != 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
        close(fd);
        return -1;
    }
    return fd;
}

// Maps shared memory, at an address if one is given; null when that is not possible.
inline unsigned char* map_shared(int fd, size_t bytes, void* at = nullptr) {
    const int flags = MAP_SHARED | (at != nullptr ? MAP_FIXED | MAP_POPULATE : 0);
    void* memory = mmap(at, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

// A device's array of an input: where the runner has it, and in the judge's own memory.
struct WrittenArray {
    void* to;
    const void* from;
    size_t bytes;
};

}  // namespace warpboard

#endif
