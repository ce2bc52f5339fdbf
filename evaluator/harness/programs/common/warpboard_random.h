// Random numbers for generators. A submission that sees some of them can predict neither the others nor their seed:
// they come from ChaCha with 8 rounds, under a secret key that the judge draws for every call.
#ifndef WARPBOARD_RANDOM_H
#define WARPBOARD_RANDOM_H

#include <sys/random.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>

#ifdef __CUDACC__
#define WARPBOARD_BOTH __host__ __device__
#define WARPBOARD_ROLLED _Pragma("unroll 1")
#else
#define WARPBOARD_BOTH
#define WARPBOARD_ROLLED
#endif

namespace warpboard {

// CallKey has 128 random bits for the current call. Zeros make the input depend only on the seed in the case.
struct CallKey {
    uint32_t words[4];
};
inline CallKey call_key{};

inline void draw_random(void* into, size_t bytes) {
    for (auto* next = static_cast<unsigned char*>(into); bytes > 0;) {
        const ssize_t n = getrandom(next, bytes, 0);
        if (n < 0) continue;
        next += n;
        bytes -= static_cast<size_t>(n);
    }
}

// Random is a stream of numbers for each (call, seed, stream). It can be read in any order, by index, also in
// kernels, to which it is passed by value:
//
//   warpboard::Random random(seed);          random(), random.uniform()      one number after the other
//   random.bits(i), random.uniform(i)        the i-th of all; a block of 16 costs as much as one of them
//   random.block(i, sixteen)                 numbers 16 i to 16 i + 15
class Random {
public:
    using result_type = uint32_t;

    explicit Random(uint64_t seed, uint32_t stream = 0) {
        for (int i = 0; i < 4; ++i) key_[i] = call_key.words[i];
        key_[4] = static_cast<uint32_t>(seed);
        key_[5] = static_cast<uint32_t>(seed >> 32);
        key_[6] = stream;
        key_[7] = 0x57617270u;
    }

    // Returns a stream with a new random key, for example for checkers that compare a random part of an answer.
    static Random fresh() {
        Random random(0);
        draw_random(random.key_, sizeof random.key_);
        return random;
    }

    // Returns the stream of one call for a key of 96 bits, by which sealed inputs are encrypted.
    WARPBOARD_BOTH static Random under(const uint32_t key[3], uint32_t call) {
        Random random{};
        for (int i = 0; i < 8; ++i) random.key_[i] = 0;
        for (int i = 0; i < 3; ++i) random.key_[i] = key[i];
        random.key_[3] = call;
        return random;
    }

    WARPBOARD_BOTH void block(uint64_t index, uint32_t out[16]) const {
        const uint32_t constants[4] = {0x61707865u, 0x3320646eu, 0x79622d32u, 0x6b206574u};
        uint32_t in[16];
        for (int i = 0; i < 4; ++i) in[i] = constants[i];
        for (int i = 0; i < 8; ++i) in[4 + i] = key_[i];
        in[12] = static_cast<uint32_t>(index);
        in[13] = static_cast<uint32_t>(index >> 32);
        in[14] = in[15] = 0;
        for (int i = 0; i < 16; ++i) out[i] = in[i];
        WARPBOARD_ROLLED  // not unrolled, because code that is not in a device's caches loads slowly
        for (int round = 0; round < 4; ++round) {
            for (int i = 0; i < 4; ++i) quarter(out[i], out[4 + i], out[8 + i], out[12 + i]);
            for (int i = 0; i < 4; ++i) quarter(out[i], out[4 + (i + 1) % 4], out[8 + (i + 2) % 4], out[12 + (i + 3) % 4]);
        }
        for (int i = 0; i < 16; ++i) out[i] += in[i];
    }

    WARPBOARD_BOTH uint32_t bits(uint64_t index) const {
        uint32_t sixteen[16];
        block(index / 16, sixteen);
        return sixteen[index % 16];
    }

    // Returns a number in [0, 1) with 24 bits.
    WARPBOARD_BOTH float uniform(uint64_t index) const { return unit(bits(index)); }
    WARPBOARD_BOTH static float unit(uint32_t bits) { return static_cast<float>(bits >> 8) * (1.0f / 16777216.0f); }

    // Returns the next number, like a generator of the standard library.
    uint32_t operator()() {
        if (next_ % 16 == 0) block(next_ / 16, sixteen_);
        return sixteen_[next_++ % 16];
    }
    float uniform() { return unit((*this)()); }
    static constexpr uint32_t min() { return 0; }
    static constexpr uint32_t max() { return 0xFFFFFFFFu; }

private:
    Random() = default;

    WARPBOARD_BOTH static uint32_t turned(uint32_t x, int by) { return x << by | x >> (32 - by); }
    WARPBOARD_BOTH static void quarter(uint32_t& a, uint32_t& b, uint32_t& c, uint32_t& d) {
        a += b, d = turned(d ^ a, 16);
        c += d, b = turned(b ^ c, 12);
        a += b, d = turned(d ^ a, 8);
        c += d, b = turned(b ^ c, 7);
    }

    uint32_t key_[8];
    uint64_t next_ = 0;
    uint32_t sixteen_[16];
};

}  // namespace warpboard

#undef WARPBOARD_BOTH

#endif
