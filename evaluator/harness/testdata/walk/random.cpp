// The generator's numbers are ChaCha's with 8 rounds, and the call's key decides them.
#define private public
#include "warpboard_random.h"
#undef private

#include <cstdio>
#include <cstring>

using warpboard::Random;

int main() {
    Random zero(0);
    std::memset(zero.key_, 0, sizeof zero.key_);
    const unsigned char known[] = {0x3e, 0x00, 0xef, 0x2f, 0x89, 0x5f, 0x40, 0xd6, 0x7f, 0x5b, 0xb8, 0xe8, 0x1f, 0x09, 0xa5, 0xa1};
    uint32_t block[16];
    zero.block(0, block);
    if (std::memcmp(block, known, sizeof known) != 0) return std::puts("other numbers than ChaCha8's"), 1;

    Random one(42), again(42), other(43), stream(42, 1);
    warpboard::call_key.words[2] = 1;
    Random key(42);
    for (uint64_t i = 0; i < 40; ++i) {
        const uint32_t value = one();
        if (value != again.bits(i)) return std::puts("by index is not one after the other"), 1;
        if (value == other.bits(i) || value == stream.bits(i) || value == key.bits(i)) return std::puts("seed, stream or key makes no difference"), 1;
        if (again.uniform(i) < 0 || again.uniform(i) >= 1) return std::puts("outside of [0, 1)"), 1;
    }
    if (Random::fresh()() == Random::fresh()()) return std::puts("not fresh"), 1;
    return 0;
}
