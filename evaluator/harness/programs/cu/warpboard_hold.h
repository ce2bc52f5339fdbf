// The choice of the sealed parts of an input, and the hold, by which the judge keeps the device from the first byte of
// an input until all of it is written: the judge's last kernel spins until the judge ends it. If another context has a
// turn in spite of this, writing takes longer, which counts.
//
// Small arrays are sealed whole: their places hold 0xFF until the release. Of larger ones, pieces in unpredictable
// places are sealed; other plausible data stand there until the release. Pieces are taken out of the judge's array
// before it is copied: otherwise the input would be whole for a moment.
#ifndef WARPBOARD_HOLD_H
#define WARPBOARD_HOLD_H

#include <cuda_runtime.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <vector>

#include "warpboard_driver.h"
#include "warpboard_page.h"
#include "warpboard_random.h"
#include "warpboard_seal.h"

namespace warpboard {

#ifndef WARPBOARD_DEVICE_NS
// Reads the device's global clock in nanoseconds, which all contexts share.
#define WARPBOARD_DEVICE_NS(now) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now))
#endif

// Sealed is an array or piece to seal (encrypt): its words in the judge's array, its offset in the runner's region in
// words, and the number of its first record.
struct Sealed {
    const uint32_t* own;
    uint64_t place, words;
    uint64_t first;
};

// Piece is a piece of a large array: its address in the judge's array, the address of other data that replaces it there
// until the release (decoy), and the address where it is kept until it is moved back.
struct Piece {
    uint32_t *own, *decoy, *kept;
    uint64_t words;
};

// HoldPage is memory of the host that the kernels share with the judge. Times are from the device's clock.
struct HoldPage {

    alignas(64) unsigned long long first;  // time before the first byte is written, in nanoseconds
    unsigned long long let_go_at;  // time at the end of the hold, in nanoseconds
    alignas(64) unsigned held;  // number of the hold that now keeps the device
    alignas(64) unsigned let_go;  // number of the hold to end
    alignas(64) unsigned start;  // the judge writes a number here to end the wait with that number (Hold::block)
    alignas(64) Piece pieces[most_pieces];
    Sealed rows[most_rows];
};

struct SealKey {
    uint32_t words[3];
};

#ifndef WARPBOARD_PTX
static __global__ void begin_writing(volatile HoldPage* page) {
    unsigned long long now;
    WARPBOARD_DEVICE_NS(now);
    page->first = now;
}

// Encrypts all arrays and pieces of the page's table into records, with one thread for each part of a record.
static __global__ void seal(const HoldPage* page, unsigned rows, unsigned records, SealKey key, uint32_t number, Record* into) {
    __shared__ Sealed table[most_rows];
    for (unsigned i = threadIdx.x; i < rows; i += blockDim.x) table[i] = page->rows[i];
    __syncthreads();
    const Random cipher = Random::under(key.words, number);
    for (unsigned part = blockIdx.x * blockDim.x + threadIdx.x; part < records * record_parts; part += gridDim.x * blockDim.x) {
        const unsigned record = part / record_parts, begin = part % record_parts * Record::part_words;
        unsigned row = 0;
        while (row + 1 < rows && table[row + 1].first <= record) ++row;
        const uint64_t skipped = (record - table[row].first) * record_words, left = table[row].words - skipped;
        const unsigned words = left < record_words ? static_cast<unsigned>(left) : record_words;
        uint32_t hidden[16];
        if (begin == 0) {
            const uint64_t place = table[row].place + skipped;
            record_key(cipher, record, 0, hidden);
            into[record].tag = record_tag ^ hidden[0];
            into[record].words = words ^ hidden[1];
            into[record].place_low = static_cast<uint32_t>(place) ^ hidden[2];
            into[record].place_high = static_cast<uint32_t>(place >> 32) ^ hidden[3];
        }
        record_key(cipher, record, 1 + part % record_parts, hidden);
        for (unsigned i = 0; i < Record::part_words; ++i) {
            const unsigned at = begin + i;
            into[record].data[at] = (at < words ? table[row].own[skipped + at] : 0) ^ hidden[i];
        }
    }
}

// Copies pieces between two of their three addresses, given as members of Piece.
static __device__ inline void move_pieces(const Piece* pieces, unsigned count, uint32_t* Piece::*to, uint32_t* Piece::*from) {
    for (unsigned i = threadIdx.x; i < count * record_words; i += blockDim.x) {
        const Piece& piece = pieces[i / record_words];
        const unsigned at = i % record_words;
        if (at < piece.words) (piece.*to)[at] = (piece.*from)[at];
    }
    __syncthreads();
}

static __device__ inline void read_pieces(const HoldPage* page, unsigned count, Piece* pieces) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) pieces[i] = page->pieces[i];
    __syncthreads();
}

// Moves pieces out of the judge's arrays, and puts their substitutes there: copies of other pieces, or blank data.
static __global__ void take_pieces_out(const HoldPage* page, unsigned count) {
    __shared__ Piece pieces[most_pieces];
    read_pieces(page, count, pieces);
    move_pieces(pieces, count, &Piece::kept, &Piece::own);
    move_pieces(pieces, count, &Piece::own, &Piece::decoy);
}

// Moves the pieces back to the judge's arrays, and then keeps the device busy until the judge ends it, at most for this
// many nanoseconds.
static __global__ void hold_device(HoldPage* page, unsigned count, unsigned number, unsigned long long most) {
    __shared__ Piece pieces[most_pieces];
    read_pieces(page, count, pieces);
    move_pieces(pieces, count, &Piece::own, &Piece::kept);
    if (threadIdx.x != 0) return;
    const volatile unsigned* let_go = &page->let_go;
    __threadfence_system();
    *static_cast<volatile unsigned*>(&page->held) = number;
    unsigned long long first, now;
    WARPBOARD_DEVICE_NS(first);
    do {
        const bool there = *let_go == number;
        WARPBOARD_DEVICE_NS(now);
        if (there) break;
    } while (now - first < most);
    page->let_go_at = now;
    __threadfence_system();
}

#endif

// Seal chooses the parts of an input that are sealed (encrypted) until the release.
class Seal {
public:
    static constexpr unsigned most_whole = most_records - most_pieces;  // most records of arrays that are sealed whole

    // Writes the chosen arrays and pieces to page. base is the address of the inputs' region. Only arrays that are
    // aligned to words of four bytes are sealed, the smallest first. Large arrays that overlap another one are not
    // sealed.
    void choose(std::vector<WrittenArray> arrays, const void* base, uint32_t* blank, uint32_t* kept, HoldPage& page) {
        rows = records = pieces = 0;
        whole_.clear();
        std::stable_sort(arrays.begin(), arrays.end(), [](const WrittenArray& a, const WrittenArray& b) { return a.bytes < b.bytes; });
        std::vector<WrittenArray> rest;
        for (const WrittenArray& array : arrays) {
            const uint64_t words = array.bytes / 4, needed = (words + record_words - 1) / record_words;
            if (!aligned(array) || rows + most_pieces >= most_rows || records + needed > most_whole) {
                rest.push_back(array);
                continue;
            }
            add(page, static_cast<const uint32_t*>(array.from), place(array.to, base), words);
            whole_.push_back(array.to);
        }
        const std::vector<WrittenArray> large = apart(rest);
        if (!large.empty()) choose_pieces(large, base, blank, kept, page);
    }

    // Reports whether the array at this address in the runner's region is sealed whole, except for bytes after its last
    // whole word.
    bool whole(const void* to) const { return std::find(whole_.begin(), whole_.end(), to) != whole_.end(); }

    unsigned rows = 0, records = 0, pieces = 0;

private:
    void add(HoldPage& page, const uint32_t* own, uint64_t place, uint64_t words) {
        page.rows[rows++] = {own, place, words, records};
        records += static_cast<unsigned>((words + record_words - 1) / record_words);
    }

    // Chooses pieces at random, more of them in larger arrays. The substitute of a piece is another piece of the same
    // array, and several pieces can have the same, so that the visible data does not reveal the missing piece. The only
    // piece of an array is replaced by blank. kept is memory for all pieces.
    void choose_pieces(const std::vector<WrittenArray>& arrays, const void* base, uint32_t* blank, uint32_t* kept, HoldPage& page) {
        uint64_t words = 0;
        for (const WrittenArray& array : arrays) words += array.bytes / 4;
        size_t which[most_pieces];
        Piece* list = page.pieces;
        // Only every other piece is chosen by size: otherwise one large array would have all of them.
        for (pieces = 0; pieces < most_pieces; ++pieces) {
            const size_t i = which[pieces] = pieces % 2 != 0 ? by_size(arrays, below(words)) : below(arrays.size());
            const uint64_t all = arrays[i].bytes / 4, size = std::min<uint64_t>(record_words, all), at = below(all - size + 1);
            list[pieces] = {static_cast<uint32_t*>(const_cast<void*>(arrays[i].from)) + at, nullptr, kept + pieces * record_words, size};
            add(page, list[pieces].own, place(arrays[i].to, base) + at, size);
        }
        for (unsigned i = 0; i < pieces; ++i) list[i].decoy = decoy(list, which, i, blank);
    }

    static bool aligned(const WrittenArray& array) { return (address(array.from) | address(array.to)) % 4 == 0 && array.bytes >= 4; }

    // Returns the arrays that overlap no other. Arrays are copied one after the other, so a piece moved out of one
    // array would be missing in the copy of an array that overlaps it.
    static std::vector<WrittenArray> apart(std::vector<WrittenArray> arrays) {
        std::sort(arrays.begin(), arrays.end(), [](const WrittenArray& a, const WrittenArray& b) { return address(a.from) < address(b.from); });
        std::vector<WrittenArray> found;
        uintptr_t end = 0;
        for (size_t i = 0; i < arrays.size(); ++i) {
            const uintptr_t from = address(arrays[i].from), to = from + arrays[i].bytes;
            const bool alone = from >= end && (i + 1 == arrays.size() || to <= address(arrays[i + 1].from));
            if (alone && aligned(arrays[i])) found.push_back(arrays[i]);
            end = std::max(end, to);
        }
        return found;
    }

    static size_t by_size(const std::vector<WrittenArray>& arrays, uint64_t word) {
        size_t i = 0;
        for (; word >= arrays[i].bytes / 4; ++i) word -= arrays[i].bytes / 4;
        return i;
    }

    uint32_t* decoy(const Piece* list, const size_t* which, unsigned i, uint32_t* blank) {
        unsigned others[most_pieces], n = 0;
        for (unsigned k = 0; k < pieces; ++k) {
            if (which[k] == which[i] && list[k].own != list[i].own && list[k].words == list[i].words) others[n++] = k;
        }
        return n == 0 ? blank : list[others[below(n)]].kept;
    }

    uint64_t below(uint64_t n) { return (static_cast<uint64_t>(random_()) << 32 | random_()) % n; }

    static uint64_t place(const void* at, const void* base) { return (address(at) - address(base)) / 4; }
    static uintptr_t address(const void* at) { return reinterpret_cast<uintptr_t>(at); }

    Random random_ = Random::fresh();
    std::vector<const void*> whole_;
};

class Hold {
public:
    // Allocates memory, and loads the kernels. It needs a current CUDA context. blank is device memory that replaces
    // pieces without another substitute; it is at least as large as a piece.
    void open(void* blank) {
        blank_ = static_cast<uint32_t*>(blank);
        WARPBOARD_CUDA(cudaMalloc(&kept_, most_pieces * record_words * sizeof(uint32_t)));
        void* memory = mmap(nullptr, sizeof(HoldPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        page_ = new (memory) HoldPage{};
        seen_ = reinterpret_cast<HoldPage*>(seen_by_device(memory, sizeof(HoldPage)));
        load();
    }

    // Chooses the sealed parts of the arrays. inputs is the address of the runner's region of inputs. Returns the
    // number of records.
    unsigned choose(const std::vector<WrittenArray>& arrays, const void* inputs) {
        seal_.choose(arrays, inputs, blank_, kept_, *page_);
        return seal_.records;
    }

    // Makes the device wait until start is called. Until then this process must not wait for the device, or load a
    // kernel.
    void block() {
        const auto word = reinterpret_cast<CUdeviceptr>(seen_) + offsetof(HoldPage, start);
        if (!queue_wait(cudaStreamLegacy, word, ++blocked_)) throw std::runtime_error("the device cannot wait for the judge");
    }
    void start() { __atomic_store_n(&page_->start, blocked_, __ATOMIC_RELEASE); }

    // Queues the kernels that record the time before the first byte is written, encrypt the chosen parts for call
    // number, and move pieces out of the judge's arrays.
    void begin(uint32_t number, void* records) {
        draw_random(&key_, sizeof key_);
        WARPBOARD_LAUNCH(begin_writing, 1, 1, seen_);
        if (seal_.records > 0) {
            const unsigned blocks = (seal_.records * record_parts + seal_threads - 1) / seal_threads;
            WARPBOARD_LAUNCH(seal, blocks, seal_threads, seen_, seal_.rows, seal_.records, key_, number, static_cast<Record*>(records));
        }
        if (seal_.pieces > 0) WARPBOARD_LAUNCH(take_pieces_out, 1, move_threads, seen_, seal_.pieces);
        WARPBOARD_CUDA(cudaGetLastError());
    }

    bool whole(const void* to) const { return seal_.whole(to); }
    const SealKey& key() const { return key_; }

    // Queues the kernel that keeps the device busy, after the writes.
    void queue() {
        ++number_;
        WARPBOARD_LAUNCH(hold_device, 1, move_threads, seen_, seal_.pieces, number_, hold_limit_ns);
        WARPBOARD_CUDA(cudaGetLastError());
    }

    // Waits until the kernel runs that keeps the device busy.
    void wait_running() {
        Waiter waiter(1e9);
        while (read(page_->held) != number_) {
            if (waiter.elapsed() > held_limit_ns) throw Refused{"The device did not come to the judge's last kernel before a release."};
            waiter.pause();
        }
    }

    void let_go() { __atomic_store_n(&page_->let_go, number_, __ATOMIC_RELEASE); }

    // Returns the nanoseconds from begin to let_go. In this time the runner's host threads and copy engines can read
    // the unsealed parts, and another context may have had a time slice. Call it after the kernel has ended.
    double duration() const { return static_cast<double>(read(page_->let_go_at) - read(page_->first)); }

private:

    // Launches each kernel once without data, which loads it: loading waits for the device, and would wait forever
    // while the device waits for start.
    void load() {
        WARPBOARD_LAUNCH(begin_writing, 1, 1, seen_);
        WARPBOARD_LAUNCH(seal, 1, seal_threads, seen_, 0u, 0u, key_, 0u, static_cast<Record*>(nullptr));
        WARPBOARD_LAUNCH(take_pieces_out, 1, move_threads, seen_, 0u);
        WARPBOARD_LAUNCH(hold_device, 1, move_threads, seen_, 0u, 0u, 0ull);
        WARPBOARD_CUDA(cudaDeviceSynchronize());
    }

    template <class Word>
    static Word read(const Word& word) {
        return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
    }

    HoldPage* page_ = nullptr;
    HoldPage* seen_ = nullptr;  // address of page_ on the device
    unsigned number_ = 0, blocked_ = 0;
    uint32_t *blank_ = nullptr, *kept_ = nullptr;
    SealKey key_{};
    Seal seal_;
};

}  // namespace warpboard

#endif
