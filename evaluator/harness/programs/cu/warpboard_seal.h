// Sealed inputs: parts of an input are encrypted in memory that judge and runner map, and the key comes with the
// release. The runner's gate, a kernel that already runs then, decrypts them and writes them to where the input has
// them.
//
// So the device need not change contexts between the release and the runner's first work, and before the release
// neither a copy engine nor a processor nor a kernel can read the encrypted parts.
#ifndef WARPBOARD_SEAL_H
#define WARPBOARD_SEAL_H

#include <cuda_runtime.h>

#include <cstdint>

#include "warpboard_page.h"
#include "warpboard_random.h"

namespace warpboard {

#ifndef WARPBOARD_LAUNCH
#define WARPBOARD_LAUNCH(kernel, blocks, threads, ...) kernel<<<blocks, threads, 0, cudaStreamLegacy>>>(__VA_ARGS__)
// Reads the release and its key in one access. The judge writes the key first.
#define WARPBOARD_LOAD_LINE(into, from) \
    asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"((into)[0]), "=r"((into)[1]), "=r"((into)[2]), "=r"((into)[3]) : "l"(from))
#define WARPBOARD_STORE_LINE(to, from) \
    asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %4};" : : "l"(to), "r"((from)[0]), "r"((from)[1]), "r"((from)[2]), "r"((from)[3]) : "memory")
#endif

// Record is an encrypted range of an input. Its header is encrypted, too, including the range's offset.
struct Record {
    static constexpr unsigned part_words = 16;

    // words is the number of words of four bytes; place is their offset in the inputs' region, in words.
    uint32_t tag, words, place_low, place_high;
    uint32_t pad[12];
    uint32_t data[record_words];
};
static_assert(sizeof(Record) == 576, "a header and eight parts, each a block of the cipher");

#ifndef WARPBOARD_PTX  // for these programs, warpboard_kernels.h has the kernel as PTX
static __device__ inline void record_key(const Random& cipher, unsigned record, unsigned block, uint32_t out[16]) {
    cipher.block(uint64_t{record} * (1 + record_parts) + block, out);
}

// SealedPart is an encrypted part of a record.
struct SealedPart {
    uint32_t header[4], data[Record::part_words];
};

static __device__ inline SealedPart read_part(const Record* records, unsigned part) {
    const Record& record = records[part / record_parts];
    SealedPart read{{record.tag, record.words, record.place_low, record.place_high}, {}};
    for (unsigned i = 0; i < Record::part_words; ++i) read.data[i] = record.data[part % record_parts * Record::part_words + i];
    return read;
}

// Decrypts a part. If write is not set, it computes the same but writes nothing.
static __device__ inline void open_part(const Random& cipher, unsigned part, const SealedPart& sealed, uint32_t* inputs, bool write) {
    const unsigned record = part / record_parts, begin = part % record_parts * Record::part_words;
    uint32_t header[4], hidden[16];
    WARPBOARD_ROLLED
    for (unsigned of_data = 0; of_data < 2; ++of_data) {
        record_key(cipher, record, of_data * (1 + part % record_parts), hidden);
        for (int i = 0; i < 4 && of_data == 0; ++i) header[i] = sealed.header[i] ^ hidden[i];
    }
    const unsigned words = write && header[0] == record_tag ? header[1] : 0;
    uint32_t* to = inputs + (uint64_t{header[3]} << 32 | header[2]);
    for (unsigned i = 0; i < Record::part_words; ++i) {
        if (begin + i < words) to[begin + i] = sealed.data[i] ^ hidden[i];
    }
}

// GateWords is device memory that the thread blocks of a gate share.
struct GateWords {
    alignas(16) unsigned ready;  // number of blocks that wait; the last block resets it to 0
    alignas(16) uint32_t line[4];  // release and key; the first block reads them from the page and writes them here
};

// Decrypts the parts of a call after its release. Before the release, each thread has read a part into registers, and
// has run the code once without effect, which loads it into the caches that the judge has flushed. page is a Page in
// host memory, which only one thread reads: each read takes a microsecond, one after the other. It passes the release
// and key on in own, which must be 0 before the first call.
static __global__ void warpboard_open_gate(volatile uint32_t* page, uint32_t number, uint32_t* inputs, const Record* records, unsigned parts, GateWords* own) {
    __shared__ uint32_t line[4];
    unsigned part = blockIdx.x * blockDim.x + threadIdx.x;
    SealedPart sealed{};
    if (part < parts) sealed = read_part(records, part);
    WARPBOARD_ROLLED
    for (int pass = 0; pass < 2; ++pass) {
        if (pass == 1) {
            __syncthreads();
            if (threadIdx.x == 0) {
                if (atomicInc(&own->ready, gridDim.x - 1) == gridDim.x - 1) page[offsetof(Page, active) / 4] = number;
                volatile uint32_t* from = blockIdx.x == 0 ? page : own->line;
                do WARPBOARD_LOAD_LINE(line, from);
                while (line[0] != number && line[0] != ~0u);  // ~0 means that the judge makes no more calls
                if (blockIdx.x == 0) WARPBOARD_STORE_LINE(own->line, line);
            }
            __syncthreads();
        }
        open_part(Random::under(line + 1, number), part, sealed, inputs, pass == 1 && part < parts);
    }
    for (part += gridDim.x * blockDim.x; part < parts; part += gridDim.x * blockDim.x) {
        open_part(Random::under(line + 1, number), part, read_part(records, part), inputs, true);
    }
}
#endif

}  // namespace warpboard

#endif
