// An allocator of pages in the answers' region for the submission's buffers: the judge can read an answer in one of
// them.
#ifndef WARPBOARD_ARENA_H
#define WARPBOARD_ARENA_H

#include <sched.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include "warpboard_shared.h"

namespace warpboard {

// Arena allocates pages of a region. Sizes are rounded up to classes, four to a doubling. A freed block waits in a list
// of its class, and once all blocks are free the arena starts over. Its records lie outside the region, where the
// judge's writes cannot spoil them and a device's memory needs no access. It is safe for concurrent use.
class Arena {
public:
    Arena() = default;
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    // Starts to allocate in a region. Returns false if there is no memory for the records.
    bool open(const Region& region) {
        Lock lock(busy_);
        if (region.size / host_page >= none) return false;
        region_ = region;
        pages_ = static_cast<uint32_t>(region.size / host_page);
        kinds_ = static_cast<uint8_t*>(std::calloc(pages_ + 1, sizeof(uint8_t)));
        next_ = static_cast<uint32_t*>(std::calloc(pages_ + 1, sizeof(uint32_t)));
        reset();
        open_ = kinds_ != nullptr && next_ != nullptr;
        return open_;
    }

    // Stops allocating. Returns true if no block is in use, so that the region can be unmapped.
    bool close() {
        Lock lock(busy_);
        open_ = false;
        return live_ == 0;
    }

    // Returns a block, or null if the region is full.
    void* take(size_t bytes) {
        Lock lock(busy_);
        const size_t wanted = bytes / host_page + (bytes % host_page != 0 || bytes == 0);
        const unsigned kind = kind_of(wanted);
        if (!open_) return nullptr;
        uint32_t page = heads_[kind];
        if (page != none) {
            heads_[kind] = next_[page];
        } else if (pages_of(kind) <= pages_ - used_) {
            page = used_;
            used_ += static_cast<uint32_t>(pages_of(kind));
        } else {
            refused_ += pages_of(kind);
            return nullptr;
        }
        kinds_[page] = static_cast<uint8_t>(kind);
        ++live_;
        return region_.base + page * host_page;
    }

    // Frees a block that take returned.
    void give(void* memory) {
        Lock lock(busy_);
        const auto page = static_cast<uint32_t>(region_.offset_of(memory) / host_page);
        if (--live_ == 0) {
            reset();
            return;
        }
        next_[page] = heads_[kinds_[page]];
        heads_[kinds_[page]] = page;
    }

    // Returns the size of a region with room for all requests.
    size_t wanted() {
        Lock lock(busy_);
        return (used_ + refused_) * host_page;
    }

    bool holds(const void* memory) const { return region_.holds(memory, 1); }

    // Returns the size of a block in use.
    size_t size_of(const void* memory) const { return pages_of(kinds_[region_.offset_of(memory) / host_page]) * host_page; }

private:
    static constexpr uint32_t none = ~0u;
    static constexpr unsigned most_kinds = 128;

    // Spins: the lock is held for a few instructions, and waiting must not need memory.
    class Lock {
    public:
        explicit Lock(std::atomic_flag& flag) : flag_(flag) {
            while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
        }
        ~Lock() { flag_.clear(std::memory_order_release); }

    private:
        std::atomic_flag& flag_;
    };

    // Classes of 1, 2, 3, 4 pages, then 5, 6, 7, 8, then 10, 12, 14, 16 and so on.
    static size_t pages_of(unsigned kind) {
        return kind < 4 ? kind + 1 : static_cast<size_t>(kind % 4 + 5) << (kind / 4 - 1);
    }
    static unsigned kind_of(size_t pages) {
        if (pages <= 4) return pages == 0 ? 0 : static_cast<unsigned>(pages) - 1;
        unsigned kind = 4;
        for (size_t most = 8; most < pages; most *= 2) kind += 4;
        while (pages_of(kind) < pages) ++kind;
        return kind;
    }

    void reset() {
        used_ = 0;
        for (uint32_t& head : heads_) head = none;
    }

    Region region_;
    uint32_t pages_ = 0;
    uint32_t used_ = 0;  // pages allocated since the arena was last empty
    size_t live_ = 0;  // blocks in use
    size_t refused_ = 0;  // pages that requests found no space for
    bool open_ = false;
    uint8_t* kinds_ = nullptr;   // the size class of a block, indexed by its first page
    uint32_t* next_ = nullptr;  // the next free block of the same size class, indexed by first page
    uint32_t heads_[most_kinds];
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
};

}  // namespace warpboard

#endif
