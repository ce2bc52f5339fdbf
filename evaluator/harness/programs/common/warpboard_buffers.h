// The judge's side of a case's shared memory, and copies of answers from it.
#ifndef WARPBOARD_BUFFERS_H
#define WARPBOARD_BUFFERS_H

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_input.h"
#include "warpboard_random.h"
#include "warpboard_shared.h"

namespace warpboard {

constexpr size_t region_step = size_t{2} << 20;  // allocation unit of a GPU's memory

// Needs lists the sizes of a case's regions, in bytes.
struct Needs {
    size_t host_inputs, device_inputs, host_answers, device_answers;
};

// Buffers allocates the regions and keeps them while they are large enough.
template <class Device>
class Buffers {
public:
    explicit Buffers(Device& device) : device_(device) {}
    ~Buffers() { clear(); }
    Buffers(const Buffers&) = delete;
    Buffers& operator=(const Buffers&) = delete;

    // Makes the next fit replace input memory that is larger than the case needs, so that a call maps no extra pages.
    void begin_case() { exact_ = true; }

    // Allocates larger regions if needed. Returns true if it did: the caller must send the new regions to the runner.
    bool fit(const Needs& needs) {
        const bool exact = std::exchange(exact_, false);
        if (has_room(needs) && !(exact && is_wide(needs.host_inputs))) return false;
        clear();
        add(REGION_HOST, REGION_INPUTS, needs.host_inputs);
        add(REGION_DEVICE, REGION_INPUTS, needs.device_inputs);
        add(REGION_HOST, REGION_ANSWERS, needs.host_answers);
        add(REGION_DEVICE, REGION_ANSWERS, needs.device_answers);
        add(REGION_DEVICE, REGION_SEALED, needs.device_inputs > 0 ? Device::sealed_bytes : 0);
        return true;
    }

    const std::vector<Region>& regions() const { return regions_; }
    const std::vector<int>& descriptors() const { return descriptors_; }

    // Chooses the sealed parts of an input on the device. Returns the number of records.
    unsigned choose_sealed(const InputLayout& layout) {
        std::vector<WrittenArray> arrays;
        const Region* inputs = find(REGION_DEVICE, REGION_INPUTS);
        for (const Placed& placed : layout.contents()) {
            if (placed.device) arrays.push_back({inputs->base + placed.offset, placed.data, placed.bytes});
        }
        return device_.choose_sealed(arrays, inputs == nullptr ? nullptr : inputs->base);
    }

    // Frees the pages of the last call's host input if each call has new memory: a runner could otherwise keep them
    // mapped, and so use up the judge's memory.
    void empty_input() {
        const Region* inputs = find(REGION_HOST, REGION_INPUTS);
        if (inputs != nullptr && is_mapped_in_call(inputs->size)) madvise(inputs->base, inputs->size, MADV_REMOVE);
    }

    // Begins to write the input of the call with this number. On a GPU it queues the kernels that record the time of
    // the beginning and encrypt the chosen parts into the region of sealed records.
    void begin_writing(uint32_t number) {
        const Region* records = find(REGION_DEVICE, REGION_SEALED);
        device_.begin_writing(number, records == nullptr ? nullptr : records->base);
    }

    // Returns copies from the device's answers region for parts of these sizes. The destinations are not set.
    std::vector<AnswerReader::Copy> like(const std::vector<size_t>& parts) const {
        std::vector<AnswerReader::Copy> copies;
        const Region* answers = find(REGION_DEVICE, REGION_ANSWERS);
        size_t used = 0;
        for (size_t bytes : parts) {
            if (answers == nullptr || used + bytes > answers->size) break;
            copies.push_back({true, nullptr, answers->base + used, bytes});
            used += rounded(bytes, device_step);
        }
        return copies;
    }

    // Writes an input to where the runner has its arrays. A host input goes into memory that the runner does not have
    // before the release, because the runner's other threads could read it.
    void write(const InputLayout& layout) {
        unsigned char* host = host_memory(layout.host_bytes());
        const Region* device = find(REGION_DEVICE, REGION_INPUTS);
        for (const Placed& placed : layout.contents()) {
            if (placed.device) device_.write(device->base + placed.offset, placed.data, placed.bytes);
            else std::memcpy(host + placed.offset, placed.data, placed.bytes);
        }
    }

    // Returns the longest time, in nanoseconds, that the runner may need to map a call's input in host memory; 0 if it
    // keeps that memory mapped between calls.
    double most_mapping() const { return warpboard::most_mapping(room(REGION_HOST, REGION_INPUTS)); }

    // Returns the descriptor of the host's inputs, or -1.
    int host_inputs() const {
        for (size_t i = 0; i < regions_.size(); ++i) {
            if (regions_[i].kind == REGION_HOST && regions_[i].role == REGION_INPUTS) return descriptors_[i];
        }
        return -1;
    }

    // Overwrites a copied answer.
    void poison(const std::vector<AnswerReader::Copy>& answer) {
        for (const AnswerReader::Copy& copy : answer) {
            if (!in_answers(copy)) continue;
            void* memory = const_cast<void*>(copy.from);
            if (copy.device) device_.poison(memory, copy.bytes);
            else std::memset(memory, 0xFF, copy.bytes);
        }
    }

    // Copies an answer's parts on the host, block by block in an unpredictable order, so that a late write to any block
    // is found.
    void copy(const std::vector<AnswerReader::Copy>& answer) {
        std::vector<AnswerReader::Copy>& blocks = blocks_;
        blocks.clear();
        for (const AnswerReader::Copy& copy : answer) {
            if (!copy.device) split(copy, blocks);
        }
        for (size_t i = blocks.size(); i > 1; --i) std::swap(blocks[i - 1], blocks[random_() % i]);
        for (const AnswerReader::Copy& block : blocks) std::memcpy(block.into, block.from, block.bytes);
    }

private:
    bool has_room(const Needs& needs) const {
        return room(REGION_HOST, REGION_INPUTS) >= needs.host_inputs && room(REGION_DEVICE, REGION_INPUTS) >= needs.device_inputs &&
               room(REGION_HOST, REGION_ANSWERS) >= needs.host_answers && room(REGION_DEVICE, REGION_ANSWERS) >= needs.device_answers;
    }

    // Reports whether the host's inputs are mapped in each call and larger than needed for these bytes.
    bool is_wide(size_t bytes) const {
        const size_t size = room(REGION_HOST, REGION_INPUTS);
        return is_mapped_in_call(size) && size > rounded(bytes, step(REGION_HOST, REGION_INPUTS, bytes));
    }

    size_t room(uint32_t kind, uint32_t role) const {
        const Region* region = find(kind, role);
        return region == nullptr ? 0 : region->size;
    }

    const Region* find(uint32_t kind, uint32_t role) const {
        for (const Region& region : regions_) {
            if (region.kind == kind && region.role == role) return &region;
        }
        return nullptr;
    }

    bool in_answers(const AnswerReader::Copy& copy) const {
        const Region* region = find(copy.device ? REGION_DEVICE : REGION_HOST, REGION_ANSWERS);
        return region != nullptr && region->holds(copy.from, copy.bytes);
    }

    void add(RegionKind kind, RegionRole role, size_t bytes) {
        if (bytes == 0) return;
        Region region;
        region.kind = kind;
        region.role = role;
        region.size = rounded(bytes, step(kind, role, bytes));
        int fd = -1;
        if (kind == REGION_DEVICE) {
            if (!device_.make(region, fd)) throw std::bad_alloc();
            device_.poison(region.base, region.size);  // an earlier runner may have used this memory
        } else {
            fd = make_shared_memory(region.size);
            region.base = fd < 0 ? nullptr : map_shared(fd, region.size);
            if (region.base == nullptr) throw std::bad_alloc();
        }
        regions_.push_back(region);
        descriptors_.push_back(fd);
    }

    // Returns the bytes to which a region's size is rounded. Host inputs have no unused pages, except with huge pages:
    // mapping a page for the first time takes longest.
    static size_t step(RegionKind kind, RegionRole role, size_t bytes) {
        if (kind == REGION_DEVICE || role == REGION_ANSWERS) return region_step;
        return is_mapped_in_call(bytes) && has_huge_pages() ? huge_page : host_page;
    }

    // Returns the place to write the host's inputs: memory that the judge keeps until the release, or a new mapping.
    unsigned char* host_memory(size_t bytes) {
        if constexpr (Device::released_on_host) {
            for (size_t i = 0; i < regions_.size(); ++i) {
                Region& region = regions_[i];
                if (region.kind != REGION_HOST || region.role != REGION_INPUTS) continue;
                if (!is_mapped_in_call(region.size)) return device_.keep(region.base, bytes);
                renew(region, descriptors_[i]);
                return region.base;
            }
        }
        return nullptr;
    }

    void renew(Region& region, int& descriptor) {
        empty_former(region.size);
        const int fd = make_shared_memory(region.size);
        if (fd < 0) throw std::bad_alloc();
        former_ = std::exchange(descriptor, fd);
        if (mmap(region.base, region.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) throw std::bad_alloc();
        if (has_huge_pages()) make_huge(region.base, region.size);
    }

    // Frees the input memory of the call before. It is called at the latest in the next call.
    void empty_former(size_t size) {
        if (former_ < 0) return;
        fallocate(former_, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, static_cast<off_t>(size));
        close(std::exchange(former_, -1));
    }

    // Drops all regions. It does not free the pages of answers: the runner may still have objects in them.
    void clear() {
        empty_input();
        empty_former(room(REGION_HOST, REGION_INPUTS));
        for (size_t i = 0; i < regions_.size(); ++i) {
            if (regions_[i].kind == REGION_DEVICE) device_.drop(regions_[i]);
            else munmap(regions_[i].base, regions_[i].size);
            close(descriptors_[i]);
        }
        regions_.clear();
        descriptors_.clear();
    }

    static void split(const AnswerReader::Copy& copy, std::vector<AnswerReader::Copy>& blocks) {
        constexpr size_t step = size_t{64} << 10;
        for (size_t at = 0; at < copy.bytes; at += step) {
            blocks.push_back({copy.device, static_cast<unsigned char*>(copy.into) + at,
                              static_cast<const unsigned char*>(copy.from) + at, std::min(step, copy.bytes - at)});
        }
    }

    Device& device_;
    std::vector<Region> regions_;
    std::vector<int> descriptors_;
    std::vector<AnswerReader::Copy> blocks_;
    Random random_ = Random::fresh();
    bool exact_ = false;
    int former_ = -1;  // descriptor of the previous call's host input, or -1
};

}  // namespace warpboard

#endif
