// Passes inputs from the judge to the runner. The call's description has the lengths of arrays; their contents are in
// the shared regions, but not before the release. On a host, so are single numbers. On a GPU, the host code of
// custom_kernel runs before the release, so the description has everything that this code reads.
#ifndef WARPBOARD_INPUT_H
#define WARPBOARD_INPUT_H

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_bytes.h"
#include "warpboard_shared.h"
#include "warpboard_walk.h"

namespace warpboard {

constexpr size_t host_step = 64;  // alignment of arrays in a host region, in bytes
constexpr size_t device_step = 512;  // alignment of arrays in a device region, in bytes

// Placed is memory to copy into a region of inputs at the release of a call.
struct Placed {
    bool device;
    size_t offset;
    const void* data;
    size_t bytes;
};

// InputLayout is the judge's view of an input: its description, and the memory to copy into the regions, with offsets.
// It points into the input, which must outlive it.
class InputLayout {
public:
    template <class T>
    InputLayout(T& input, bool released) : released_(released) {
        add(input);
    }

    const std::string& description() const { return description_.bytes(); }
    const std::vector<Placed>& contents() const { return contents_; }
    size_t host_bytes() const { return host_; }
    size_t device_bytes() const { return device_; }

private:
    template <class T>
    void add(T& value) {
        if constexpr (IsDeviceArray<T>::value) {
            description_.number<uint64_t>(value.size());
            place(true, value.data(), value.bytes(), value.bytes());
        } else if constexpr (std::is_empty_v<T>) {
        } else if constexpr (is_plain<T>()) {
            contents(&value, sizeof value, 0);
        } else if constexpr (is_block<T>()) {
            using Element = typename Sized<T>::Element;
            description_.number<uint64_t>(value.size());
            contents(value.data(), value.size() * sizeof(Element), is_string<T> ? sizeof(Element) : 0);
        } else if constexpr (Sized<T>::value && !std::is_same_v<T, std::vector<bool>>) {
            description_.number<uint64_t>(value.size());
            for (auto& element : value) add(element);
        } else {
            each_member(value, [this](auto& member) { add(member); });
        }
    }

    void contents(const void* data, size_t bytes, size_t end) {
        if (released_) place(false, data, bytes, bytes + end);
        else description_.raw(data, bytes);
    }

    void place(bool device, const void* data, size_t bytes, size_t room) {
        size_t& used = device ? device_ : host_;
        description_.number<uint64_t>(used);
        if (bytes > 0) contents_.push_back({device, used, data, bytes});
        used += rounded(room, device ? device_step : host_step);
    }

    bool released_;
    Writer description_;
    std::vector<Placed> contents_;
    size_t host_ = 0;
    size_t device_ = 0;
};

// Reports whether the runner copies each device array into a separate allocation, so that a tool such as
// compute-sanitizer detects accesses past its end. The variable WARPBOARD_APART requests this.
inline bool device_arrays_apart() {
    static const bool apart = std::getenv("WARPBOARD_APART") != nullptr;
    return apart;
}

// InputMaker creates the runner's input from a description, with its arrays at the addresses where the judge will write
// their contents. Heap is asked to allocate at such an address.
template <class Heap>
class InputMaker {
public:
    InputMaker(const std::string& description, bool released, const Region& host, const Region& device)
        : in_(description.data(), description.size()), released_(released), host_(host), device_(device) {}

    template <class T>
    void make(T& value) {
        if constexpr (IsDeviceArray<T>::value) {
            const auto count = static_cast<size_t>(in_.number<uint64_t>());
            value = T::view(device_.base + in_.number<uint64_t>(), count);
            if (device_arrays_apart()) set_apart(value);
        } else if constexpr (std::is_empty_v<T>) {
        } else if constexpr (is_plain<T>()) {
            contents(&value, sizeof value);
        } else if constexpr (is_block<T>()) {
            make_block(value);
        } else if constexpr (Sized<T>::value && !std::is_same_v<T, std::vector<bool>>) {
            value = sized<T>(static_cast<size_t>(in_.number<uint64_t>()));
            for (auto& element : value) make(element);
        } else {
            each_member(value, [this](auto& member) { make(member); });
        }
    }

    // Copies the values that could not be created in shared memory. Call it after the release.
    void fill() const {
        for (const Late& late : late_) std::memcpy(late.into, late.from, late.bytes);
    }

    // Copies the contents of device arrays in separate allocations: copy must queue each copy behind the gate.
    template <class Copy>
    void fill_device(Copy copy) const {
        for (const Late& late : late_on_device_) copy(late.into, late.from, late.bytes);
    }

private:
    struct Late {
        void* into;
        const void* from;
        size_t bytes;
    };

    template <class T>
    void set_apart(T& value) {
        T own(value.size());
        if (own.size() > 0) late_on_device_.push_back({own.data(), value.data(), own.bytes()});
        value = std::move(own);
    }

    template <class T>
    void make_block(T& value) {
        using Element = typename Sized<T>::Element;
        const auto count = static_cast<size_t>(in_.number<uint64_t>());
        const size_t bytes = count * sizeof(Element);
        if (!released_) {
            value = sized<T>(count);
            in_.raw(block_data(value), bytes);
            return;
        }
        unsigned char* place = host_.base + in_.number<uint64_t>();
        Heap::place_next(place, bytes + (is_string<T> ? sizeof(Element) : 0));
        value = sized<T>(count);
        Heap::place_next(nullptr, 0);
        void* made = block_data(value);
        if (made != place && bytes > 0) late_.push_back({made, place, bytes});
    }

    void contents(void* into, size_t bytes) {
        if (released_) late_.push_back({into, host_.base + in_.number<uint64_t>(), bytes});
        else in_.raw(into, bytes);
    }

    Reader in_;
    bool released_;
    const Region& host_;
    const Region& device_;
    std::vector<Late> late_;
    std::vector<Late> late_on_device_;
};

}  // namespace warpboard

#endif
