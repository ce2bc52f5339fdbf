// Answers on their way to the judge: the runner describes one, and the judge checks the description and copies the
// arrays.
//
// An array lies in a shared region or, if it is short, in the description itself: a uint64 number of elements, a byte:
// 0 and then the elements, or 1 + a region's number and a uint64 offset.
#ifndef WARPBOARD_ANSWER_H
#define WARPBOARD_ANSWER_H

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "warpboard_bytes.h"
#include "warpboard_shared.h"
#include "warpboard_walk.h"

namespace warpboard {

constexpr size_t longest_inline = 256;  // bytes; longer arrays are not copied into the description
constexpr char ANSWER_FOLLOWS = 'A', ANSWER_NEEDS_ROOM = 'N', ANSWER_CANNOT = 'B';

// AnswerWriter describes an answer for the runner. Memory provides the answers' regions by take(device, bytes),
// copy(device, to, from, bytes), and wanted().
template <class Memory>
class AnswerWriter {
public:
    AnswerWriter(const std::vector<Region>& regions, Memory& memory) : regions_(regions), memory_(memory) {}

    template <class T>
    void add(T& value) {
        if constexpr (IsDeviceArray<T>::value) {
            out_.number<uint64_t>(value.size());
            place(true, value.data(), value.bytes());
        } else if constexpr (std::is_empty_v<T>) {
        } else if constexpr (is_plain<T>()) {
            out_.raw(&value, sizeof value);
        } else if constexpr (is_block<T>()) {
            out_.number<uint64_t>(value.size());
            place(false, value.data(), value.size() * sizeof(typename Sized<T>::Element));
        } else if constexpr (Sized<T>::value && !std::is_same_v<T, std::vector<bool>>) {
            out_.number<uint64_t>(value.size());
            for (auto& element : value) add(element);
        } else {
            each_member(value, [this](auto& member) { add(member); });
        }
    }

    // Returns the description for the judge, which takes at most this many bytes.
    std::string description(size_t most) const {
        if (missing_) {
            Writer need;
            need.number<char>(ANSWER_NEEDS_ROOM);
            need.number<uint64_t>(memory_.wanted());
            return need.bytes();
        }
        if (out_.bytes().size() + 1 > most) return std::string(1, ANSWER_CANNOT) + "it has too many arrays of their own";
        return std::string(1, ANSWER_FOLLOWS) + out_.bytes();
    }

private:
    void place(bool device, const void* data, size_t bytes) {
        for (size_t i = 0; i < regions_.size(); ++i) {
            const Region& region = regions_[i];
            if (bytes == 0 || (region.kind == REGION_DEVICE) != device || !region.holds(data, bytes)) continue;
            at(i, region.offset_of(data));
            return;
        }
        if (bytes <= longest_inline && (!device || bytes == 0)) {
            out_.number<uint8_t>(0);
            out_.raw(data, bytes);
            return;
        }
        copy(device, data, bytes);
    }

    void copy(bool device, const void* data, size_t bytes) {
        void* into = memory_.take(device, bytes);
        if (into == nullptr) {
            missing_ = true;
            return;
        }
        memory_.copy(device, into, data, bytes);
        for (size_t i = 0; i < regions_.size(); ++i) {
            if ((regions_[i].kind == REGION_DEVICE) == device && regions_[i].holds(into, bytes)) return at(i, regions_[i].offset_of(into));
        }
    }

    void at(size_t region, size_t offset) {
        out_.number<uint8_t>(static_cast<uint8_t>(1 + region));
        out_.number<uint64_t>(offset);
    }

    const std::vector<Region>& regions_;
    Memory& memory_;
    Writer out_;
    bool missing_ = false;
};

// Refused reports a runner that broke the protocol or a limit. The submitter reads the text.
struct Refused {
    std::string sentence;
};

// AnswerReader reads a description into the judge's answer and lists the necessary copies in copies().
class AnswerReader {
public:
    struct Copy {
        bool device;
        void* into;
        const void* from;
        size_t bytes;
    };

    // most limits the total bytes of arrays on the host: arrays can overlap, so the regions' sizes do not limit the
    // total.
    AnswerReader(const std::string& description, const std::vector<Region>& regions, uint64_t most)
        : in_(description.data(), description.size()), regions_(regions), room_(most) {
        for (const Region& region : regions) device_room_ += region.kind == REGION_DEVICE ? 2 * region.size : 0;
    }

    // Reads the whole answer. A value that already has the right size keeps its memory.
    template <class T>
    void read(T& value) {
        try {
            add(value);
        } catch (const std::runtime_error&) {
            refuse("its description ends too early");
        }
        if (in_.left() > 0) refuse("its description goes on after its end");
    }

    const std::vector<Copy>& copies() const { return copies_; }

private:
    template <class T>
    void add(T& value) {
        if constexpr (IsDeviceArray<T>::value) {
            const size_t count = in_.number<uint64_t>();
            const void* from = place(true, count, sizeof(*value.data()));
            take(device_room_, count * sizeof(*value.data()));
            if (value.size() != count) value = T(count);
            if (count > 0 && ++on_device_ > most_waiting_parts) refuse("it has more than 500 arrays on the device");
            if (count > 0) copies_.push_back({true, value.data(), from, value.bytes()});
        } else if constexpr (std::is_empty_v<T>) {
        } else if constexpr (std::is_same_v<T, bool>) {
            value = in_.number<uint8_t>() != 0;
        } else if constexpr (is_plain<T>()) {
            in_.raw(&value, sizeof value);
        } else if constexpr (is_block<T>()) {
            using Element = typename Sized<T>::Element;
            const size_t count = in_.number<uint64_t>();
            const void* from = place(false, count, sizeof(Element));
            take(room_, count * sizeof(Element));
            if (value.size() != count) value = sized<T>(count);
            if (count > 0) copies_.push_back({false, block_data(value), from, count * sizeof(Element)});
        } else if constexpr (Sized<T>::value && !std::is_same_v<T, std::vector<bool>>) {
            const size_t count = in_.number<uint64_t>();
            if (count > in_.left()) refuse("it has more elements than its description");
            if (value.size() != count) value = sized<T>(count);
            for (auto& element : value) add(element);
        } else {
            each_member(value, [this](auto& member) { add(member); });
        }
    }

    const void* place(bool device, size_t count, size_t size) {
        const auto where = in_.number<uint8_t>();
        if (where == 0) {
            if (count > in_.left() / size || (device && count > 0)) refuse("it lies outside of every shared region");
            if (count * size > longest_inline) refuse("an array in its description is too long");
            return in_.take(count * size);
        }
        const auto offset = in_.number<uint64_t>();
        if (where > regions_.size()) refuse("it lies outside of every shared region");
        const Region& region = regions_[where - 1];
        const bool right = (region.kind == REGION_DEVICE) == device;
        if (!right || offset > region.size || count > (region.size - offset) / size) refuse("it lies outside of every shared region");
        return region.base + offset;
    }

    static void take(uint64_t& room, size_t bytes) {
        if (bytes > room) refuse("its arrays are larger together than there is room for");
        room -= bytes;
    }

    [[noreturn]] static void refuse(const char* why) { throw Refused{std::string("The answer cannot be read: ") + why + "."}; }



    Reader in_;
    const std::vector<Region>& regions_;
    std::vector<Copy> copies_;
    uint64_t room_, device_room_ = 0;
    int on_device_ = 0;
};

}  // namespace warpboard

#endif
