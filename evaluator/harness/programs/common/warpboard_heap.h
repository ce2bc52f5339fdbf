// The runner's heap. It places inputs where the judge will write them, and large blocks in memory that the judge can
// read, and overwrites freed memory, so that it contains no old answer.
#ifndef WARPBOARD_HEAP_H
#define WARPBOARD_HEAP_H

#include <malloc.h>

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>

#include "warpboard_arena.h"
#include "warpboard_shared.h"

namespace warpboard {

// HostSpace manages the addresses of shared regions. They are reserved and used only once, so that memory of an earlier
// case can always be recognized and freed.
class HostSpace {
public:
    static constexpr size_t least_arena = 4096;  // bytes; smaller blocks come from malloc

    // Maps a shared region at a new address. Returns false if that fails.
    bool map(Region& region, int fd) {
        if (base_ == nullptr && !reserve()) return false;
        if (region.size > size_ - used_) return false;
        region.base = map_shared(fd, region.size, base_ + used_);
        if (region.base == nullptr) return false;
        used_ += rounded(region.size, alignment) + alignment;
        return true;
    }

    // Unmaps a region, and keeps its addresses reserved.
    void unmap(const Region& region) {
        if (region.base == nullptr) return;
        mmap(region.base, region.size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    }

    bool holds(const void* memory) const {
        return static_cast<size_t>(static_cast<const unsigned char*>(memory) - base_) < size_;
    }

    // Makes later allocations use this region.
    void serve(const Region& region) {
        Arena* next = count_ < most_arenas ? new (&arenas_[count_]) Arena : nullptr;
        if (next != nullptr && !next->open(region)) next = nullptr;
        if (next != nullptr) ++count_;
        current_.store(next, std::memory_order_release);
    }

    // Stops allocating in the current region. Returns true if none of its blocks is in use.
    bool retire() {
        Arena* arena = current_.exchange(nullptr, std::memory_order_acq_rel);
        return arena == nullptr || arena->close();
    }

    void* take(size_t bytes) {
        Arena* arena = current_.load(std::memory_order_acquire);
        return arena == nullptr ? nullptr : arena->take(bytes);
    }

    size_t wanted() const {
        Arena* arena = current_.load(std::memory_order_acquire);
        return arena == nullptr ? 0 : arena->wanted();
    }

    // Frees a block. Blocks of inputs are never freed.
    void give(void* memory, bool poison) {
        for (unsigned i = count_; i-- > 0;) {
            Arena& arena = *reinterpret_cast<Arena*>(&arenas_[i]);
            if (!arena.holds(memory)) continue;
            if (poison) std::memset(memory, 0xFF, arena.size_of(memory));
            arena.give(memory);
            return;
        }
    }

private:
    static constexpr size_t alignment = size_t{2} << 20;
    static constexpr unsigned most_arenas = 1024;  // one per case; later cases use malloc

    bool reserve() {
        for (size_t size = size_t{1} << 42; size >= size_t{1} << 32; size /= 2) {
            void* memory = mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
            if (memory == MAP_FAILED) continue;
            const size_t skip = rounded(reinterpret_cast<uintptr_t>(memory), alignment) - reinterpret_cast<uintptr_t>(memory);
            base_ = static_cast<unsigned char*>(memory) + skip;
            size_ = size - skip;
            return true;
        }
        return false;
    }

    unsigned char* base_ = nullptr;
    size_t size_ = 0;
    size_t used_ = 0;
    std::atomic<Arena*> current_{nullptr};
    std::atomic<unsigned> count_{0};
    std::aligned_storage_t<sizeof(Arena), alignof(Arena)> arenas_[most_arenas];
};

// Returns the heap's address space. It is created at the first allocation and never destroyed, so that constructors and
// destructors of global objects can use it.
inline HostSpace& host_space() {
    static std::aligned_storage_t<sizeof(HostSpace), alignof(HostSpace)> memory;
    static HostSpace* space = new (&memory) HostSpace;
    return *space;
}

// While true, freed memory is filled with 0xFF (NaN for floats) before the heap takes it back, so that a kernel that
// writes nothing never finds an old answer. It is false during a timed call.
inline std::atomic<bool> poison_frees{true};

// NextAllocation makes the thread's next allocation of exactly this many bytes return the given address.
struct NextAllocation {
    void* address = nullptr;
    size_t bytes = 0;
};
inline thread_local NextAllocation next_allocation;

inline void* allocate(size_t bytes, size_t alignment) {
    if (next_allocation.address != nullptr && next_allocation.bytes == bytes) {
        void* memory = next_allocation.address;
        next_allocation = {};
        return memory;
    }
    if (bytes >= HostSpace::least_arena && alignment <= host_page) {
        if (void* memory = host_space().take(bytes)) return memory;
    }
    void* memory = nullptr;
    if (alignment <= alignof(std::max_align_t)) memory = std::malloc(bytes == 0 ? 1 : bytes);
    else if (posix_memalign(&memory, alignment, bytes == 0 ? 1 : bytes) != 0) memory = nullptr;
    if (memory == nullptr) throw std::bad_alloc();
    return memory;
}

inline void release(void* memory) noexcept {
    if (memory == nullptr) return;
    const bool poison = poison_frees.load(std::memory_order_relaxed);
    if (host_space().holds(memory)) {
        host_space().give(memory, poison);
        return;
    }
    if (poison) {
        std::memset(memory, 0xFF, malloc_usable_size(memory));
        asm volatile("" : : "r"(memory) : "memory");  // otherwise the compiler omits writes to freed memory
    }
    std::free(memory);
}

}  // namespace warpboard

// These operators make the whole runner use this heap, including the submission. If the submission defines its own
// operators, they replace these weak ones, and its inputs are copied. Device code is excluded, because it has no such
// heap.
#ifndef __CUDA_ARCH__
#define WARPBOARD_WEAK __attribute__((weak, noinline))
WARPBOARD_WEAK void* operator new(std::size_t size) { return warpboard::allocate(size, 1); }
WARPBOARD_WEAK void* operator new(std::size_t size, std::align_val_t align) {
    return warpboard::allocate(size, static_cast<std::size_t>(align));
}
WARPBOARD_WEAK void operator delete(void* memory) noexcept { warpboard::release(memory); }
WARPBOARD_WEAK void operator delete(void* memory, std::size_t) noexcept { warpboard::release(memory); }
WARPBOARD_WEAK void operator delete(void* memory, std::align_val_t) noexcept { warpboard::release(memory); }
WARPBOARD_WEAK void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { warpboard::release(memory); }
#undef WARPBOARD_WEAK
#endif

#endif
