// Reads an answer of so many arrays on the device.
#include <cstdio>
#include <cstdlib>

#include "warpboard_device_array.h"
#include "warpboard_answer.h"

namespace warpboard {
void* take_device(size_t bytes) { return std::malloc(bytes); }
void give_device(void* memory, size_t) noexcept { std::free(memory); }
}  // namespace warpboard

int main(int, char** arguments) {
    const uint64_t arrays = std::strtoull(arguments[1], nullptr, 10);
    unsigned char memory[4096];
    warpboard::Region region{};
    region.kind = warpboard::REGION_DEVICE, region.base = memory, region.size = sizeof memory;
    const std::vector<warpboard::Region> regions{region};
    warpboard::Writer description;
    description.number<uint64_t>(arrays);
    for (uint64_t i = 0; i < arrays; ++i) {
        description.number<uint64_t>(1);
        description.number<uint8_t>(1);
        description.number<uint64_t>(0);
    }
    std::vector<DeviceBuffer<float>> answer;
    try {
        warpboard::AnswerReader reader(description.bytes(), regions, warpboard::most_answer());
        reader.read(answer);
        std::printf("%zu\n", reader.copies().size());
    } catch (const warpboard::Refused& refused) {
        std::puts(refused.sentence.c_str());
    }
}
