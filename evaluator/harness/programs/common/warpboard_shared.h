// Memory of the host that judge and runner share.
#ifndef WARPBOARD_SHARED_H
#define WARPBOARD_SHARED_H

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

#include "warpboard_limits.h"

namespace warpboard {

enum RegionKind : uint32_t { REGION_HOST = 0, REGION_DEVICE = 1 };
enum RegionRole : uint32_t { REGION_INPUTS = 0, REGION_ANSWERS = 1, REGION_SEALED = 2 };

// Region is memory that judge and runner map. If it is memory of a device, the host must not access base.
struct Region {
    uint32_t kind = REGION_HOST;
    uint32_t role = REGION_INPUTS;
    size_t size = 0;
    unsigned char* base = nullptr;

    // Reports whether all of these bytes lie in the region.
    bool holds(const void* data, size_t bytes) const {
        const auto at = reinterpret_cast<uintptr_t>(data), begin = reinterpret_cast<uintptr_t>(base);
        return base != nullptr && at >= begin && at - begin <= size && bytes <= size - (at - begin);
    }
    size_t offset_of(const void* data) const {
        return reinterpret_cast<uintptr_t>(data) - reinterpret_cast<uintptr_t>(base);
    }
};


// The runner receives inputs on the host in two ways. Small inputs are written into memory that it has mapped already,
// while the clock runs. Larger inputs are in new memory, which it receives with the release and maps: mapping a page
// takes as long as copying some kilobytes.

inline bool is_mapped_in_call(size_t region_bytes) { return region_bytes > most_written; }

inline size_t rounded(size_t bytes, size_t step) { return (bytes + step - 1) / step * step; }

// Creates shared memory that cannot be resized: otherwise the other process could shrink it, and reading a missing page
// would end the reader by a signal. Returns its descriptor, or -1 if that fails.
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

// Returns the largest allowed answer in bytes: a quarter of the file size limit, which equals the memory of this
// process, because the memory must also hold copies of the answer.
inline uint64_t most_answer() {
    rlimit limit{};
    const bool limited = getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    return limited ? limit.rlim_cur / 4 : most_answers;
}

// Reserves addresses where huge pages fit. Returns null if there are none.
inline void* reserve_addresses(size_t bytes) {
    void* memory = mmap(nullptr, bytes + huge_page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return nullptr;
    auto* begin = static_cast<unsigned char*>(memory);
    const size_t skip = rounded(reinterpret_cast<uintptr_t>(begin), huge_page) - reinterpret_cast<uintptr_t>(begin);
    const size_t end = skip + rounded(bytes, host_page);
    if (skip > 0) munmap(begin, skip);
    munmap(begin + end, rounded(bytes + huge_page, host_page) - end);
    return begin + skip;
}

// Maps shared memory. If at is set, it maps the memory there, all pages at once. Returns null if that fails.
inline unsigned char* map_shared(int fd, size_t bytes, void* at = nullptr) {
    const int populate = at != nullptr ? MAP_POPULATE : 0;
    if (at == nullptr) at = reserve_addresses(bytes);
    if (at == nullptr) return nullptr;
    void* memory = mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | populate, fd, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<unsigned char*>(memory);
}

// Unmaps memory, and keeps its addresses reserved. Reading them gives zeros.
inline void unmap_shared(void* at, size_t bytes) {
    mmap(at, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

// Makes new shared memory consist of huge pages, which are mapped in a hundredth of the time. Returns false if the
// system does not offer them: Linux before 6.1, or a setting that denies them
// (/sys/kernel/mm/transparent_hugepage/shmem_enabled).
inline bool make_huge(unsigned char* base, size_t bytes) {
    constexpr int collapse = 25;  // MADV_COLLAPSE, which needs at least one small page in each huge page
    for (size_t at = 0; at < bytes; at += huge_page) *static_cast<volatile unsigned char*>(base + at) = 0;
    return madvise(base, bytes, collapse) == 0;
}

// Reports whether make_huge works here.
inline bool has_huge_pages() {
    static const bool has = [] {
        const int fd = make_shared_memory(huge_page);
        if (fd < 0) return false;
        unsigned char* base = map_shared(fd, huge_page);
        const bool huge = base != nullptr && make_huge(base, huge_page);
        if (base != nullptr) munmap(base, huge_page);
        close(fd);
        return huge;
    }();
    return has;
}

// Returns the longest time that mapping this many bytes may take, in nanoseconds.
inline double most_mapping(size_t bytes) {
    if (!is_mapped_in_call(bytes)) return 0;
    const auto pages = static_cast<double>(bytes / (has_huge_pages() ? huge_page : host_page));
    return mapping_ns + (has_huge_pages() ? mapping_huge_page_ns : mapping_page_ns) * pages;
}

// WrittenArray is a copy of device memory: of an array of an input, from the judge's own memory to the runner's region,
// or of a part of an answer in the other direction.
struct WrittenArray {
    void* to;
    const void* from;
    size_t bytes;
};

}  // namespace warpboard

#endif
