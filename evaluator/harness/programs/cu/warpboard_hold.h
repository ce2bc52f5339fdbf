// The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues
// is a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too
// early now and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.
// Where another context had a turn nevertheless, more time passes until the release, which counts.
//
// Copy engines need no turn. Until the clock runs, pieces of the input, where nobody can foresee, are something else
// that might stand there: what was copied before is not the input, and an answer made of it is wrong. They are taken out of
// the judge's own array before it is copied, or there would be a moment in which the input is whole.
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

namespace warpboard {

#ifndef WARPBOARD_DEVICE_NS
// The device's clock in nanoseconds, the same for all contexts.
#define WARPBOARD_DEVICE_NS(now) asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now))
#endif

// What the kernels and the judge tell each other, in memory of the host. Times are the device's.
struct HoldWords {
    alignas(64) unsigned long long first;  // before the first byte is written
    unsigned long long restore_at;         // when the pieces were to be put in their places
    alignas(64) unsigned held;             // the hold that runs
    alignas(64) unsigned restore;          // the hold whose pieces are to be put in their places
    alignas(64) unsigned restored;         // the hold whose pieces are there
    alignas(64) unsigned released;         // the hold that is to end
};

// A piece of an input, as words of four bytes: where the runner has it, in the judge's own array, what takes its place,
// and where it is kept meanwhile.
struct Piece {
    unsigned *to, *own, *decoy, *kept;
    unsigned long long words;
};

struct HoldPage {
    static constexpr unsigned most_pieces = 32, piece_words = 128;

    HoldWords words;
    Piece pieces[most_pieces];
};

// Kernels of one signature, so that one function launches them.
static __global__ void begin_writing(volatile HoldPage* page, unsigned, unsigned long long) {
    unsigned long long now;
    WARPBOARD_DEVICE_NS(now);
    page->words.first = now;
}

// Copies words of pieces from one of their places to another.
static __device__ void move_pieces(const Piece* pieces, unsigned count, unsigned* Piece::*to, unsigned* Piece::*from) {
    for (unsigned i = threadIdx.x; i < count * HoldPage::piece_words; i += blockDim.x) {
        const Piece& piece = pieces[i / HoldPage::piece_words];
        const unsigned at = i % HoldPage::piece_words;
        if (at < piece.words) (piece.*to)[at] = (piece.*from)[at];
    }
    __syncthreads();
}

static __device__ void read_pieces(const volatile HoldPage* page, unsigned count, Piece* pieces) {
    for (unsigned i = threadIdx.x; i < count; i += blockDim.x) {
        const volatile Piece& piece = page->pieces[i];
        pieces[i] = {piece.to, piece.own, piece.decoy, piece.kept, piece.words};
    }
    __syncthreads();
}

// Takes pieces out of the judge's own arrays; some are the decoys of others.
static __global__ void take_pieces_out(volatile HoldPage* page, unsigned count, unsigned long long) {
    __shared__ Piece pieces[HoldPage::most_pieces];
    read_pieces(page, count, pieces);
    move_pieces(pieces, count, &Piece::kept, &Piece::own);
    move_pieces(pieces, count, &Piece::own, &Piece::decoy);
}

// Spins until a word is number, for so many nanoseconds at the most; returns the time.
static __device__ unsigned long long spin(const volatile unsigned* word, unsigned number, unsigned long long most) {
    unsigned long long first, now;
    WARPBOARD_DEVICE_NS(first);
    do {
        const bool there = *word == number;
        WARPBOARD_DEVICE_NS(now);
        if (there) break;
    } while (now - first < most);
    return now;
}

// One kernel, for the device looks between kernels whether another context has work, which takes it 70 µs.
static __global__ void hold_device(volatile HoldPage* page, unsigned count, unsigned long long number_and_most) {
    __shared__ Piece pieces[HoldPage::most_pieces];
    read_pieces(page, count, pieces);
    move_pieces(pieces, count, &Piece::kept, &Piece::kept);  // into the cache
    volatile HoldWords* words = &page->words;
    const auto number = static_cast<unsigned>(number_and_most >> 32);
    const unsigned long long most = number_and_most & 0xFFFFFFFF;
    if (threadIdx.x == 0) {
        __threadfence_system();
        words->held = number;
        words->restore_at = spin(&words->restore, number, most);
    }
    __syncthreads();
    move_pieces(pieces, count, &Piece::to, &Piece::kept);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) words->restored = number;
    move_pieces(pieces, count, &Piece::own, &Piece::kept);
    if (threadIdx.x == 0) spin(&words->released, number, most);
}

// Chooses the pieces of an input that are put in their places last.
class Pieces {
public:
    // Writes them to list, and returns how many: in random places of arrays that are aligned to words and share nothing with
    // another; large ones have more of them. What takes a piece's place is another one of the array, now and then the same
    // for several, so that the rest does not tell what is missing; blank in an array that has one. Kept has room for all.
    unsigned choose(const std::vector<WrittenArray>& arrays, unsigned* blank, unsigned* kept, Piece* list) {
        const std::vector<WrittenArray> whole = apart(arrays);
        if (whole.empty()) return 0;
        uint64_t words = 0;
        for (const WrittenArray& array : whole) words += array.bytes / 4;
        size_t which[HoldPage::most_pieces];
        for (unsigned i = 0; i < HoldPage::most_pieces; ++i) {  // half of them by size, or one large array would have them all
            which[i] = i % 2 != 0 ? by_size(whole, below(words)) : below(whole.size());
            list[i] = piece(whole[which[i]]);
            list[i].kept = kept + i * HoldPage::piece_words;
        }
        for (unsigned i = 0; i < HoldPage::most_pieces; ++i) list[i].decoy = decoy(list, which, i, blank);
        return HoldPage::most_pieces;
    }

private:
    // Those of which no byte is another's, too: they are copied one after the other, and what is taken out for one would be
    // missing in another.
    static std::vector<WrittenArray> apart(std::vector<WrittenArray> arrays) {
        std::sort(arrays.begin(), arrays.end(), [](const WrittenArray& a, const WrittenArray& b) { return address(a.from) < address(b.from); });
        std::vector<WrittenArray> found;
        uintptr_t end = 0;
        for (size_t i = 0; i < arrays.size(); ++i) {
            const uintptr_t from = address(arrays[i].from), to = from + arrays[i].bytes;
            const bool alone = from >= end && (i + 1 == arrays.size() || to <= address(arrays[i + 1].from));
            if (alone && arrays[i].bytes >= 4 && (from | address(arrays[i].to)) % 4 == 0) found.push_back(arrays[i]);
            end = std::max(end, to);
        }
        return found;
    }

    static size_t by_size(const std::vector<WrittenArray>& arrays, uint64_t word) {
        size_t i = 0;
        for (; word >= arrays[i].bytes / 4; ++i) word -= arrays[i].bytes / 4;
        return i;
    }

    Piece piece(const WrittenArray& array) {
        const uint64_t words = array.bytes / 4, size = std::min<uint64_t>(HoldPage::piece_words, words), at = below(words - size + 1);
        return {static_cast<unsigned*>(array.to) + at, static_cast<unsigned*>(const_cast<void*>(array.from)) + at, nullptr, nullptr, size};
    }

    unsigned* decoy(const Piece* list, const size_t* which, unsigned i, unsigned* blank) {
        unsigned others[HoldPage::most_pieces], n = 0;
        for (unsigned k = 0; k < HoldPage::most_pieces; ++k) {
            if (which[k] == which[i] && list[k].own != list[i].own && list[k].words == list[i].words) others[n++] = k;
        }
        return n == 0 ? blank : list[others[below(n)]].kept;
    }

    uint64_t below(uint64_t n) { return (static_cast<uint64_t>(random_()) << 32 | random_()) % n; }

    static uintptr_t address(const void* at) { return reinterpret_cast<uintptr_t>(at); }

    Random random_ = Random::fresh();
};

class Hold {
public:
    // Needs a context. Blank is memory of the device for decoys, a piece of it at the least.
    void open(void* blank) {
        blank_ = static_cast<unsigned*>(blank);
        WARPBOARD_CUDA(cudaMalloc(&kept_, HoldPage::most_pieces * HoldPage::piece_words * sizeof(unsigned)));
        void* memory = mmap(nullptr, sizeof(HoldPage), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        page_ = new (memory) HoldPage{};
        WARPBOARD_CUDA(cudaHostRegister(memory, sizeof(HoldPage), cudaHostRegisterMapped));
        WARPBOARD_CUDA(cudaHostGetDevicePointer(&seen_, memory, 0));
    }

    // Marks the moment before the first byte is written, and has pieces of the arrays that are to be written taken out.
    void begin(const std::vector<WrittenArray>& arrays) {
        count_ = pieces_.choose(arrays, blank_, kept_, page_->pieces);
        launch(begin_writing, 1, 0, 0);
        launch(take_pieces_out, threads, count_, 0);
    }

    // Queues the kernel behind what is to be written, and waits until it runs.
    void take() {
        ++number_;
        launch(hold_device, threads, count_, static_cast<unsigned long long>(number_) << 32 | most_ns);
        wait(page_->words.held);
    }

    // Has the pieces put in their places, and waits for it; the clock runs.
    void restore() {
        say(page_->words.restore);
        wait(page_->words.restored);
    }

    void let_go() {
        say(page_->words.restore);  // where a call ends without a release
        say(page_->words.released);
    }

    // The nanoseconds from begin to restore, in which the runner's processors and copy engines can see most of the input, and
    // where another context had a turn; only once the kernel has ended.
    double took() const { return static_cast<double>(read(page_->words.restore_at) - read(page_->words.first)); }

private:
    static constexpr unsigned threads = 1024;
    static constexpr unsigned long long most_ns = 200'000'000;
    static constexpr double wait_ns = 30e9;

    template <class Word>
    static Word read(const Word& word) {
        return __atomic_load_n(&word, __ATOMIC_ACQUIRE);
    }

    void say(unsigned& word) const { __atomic_store_n(&word, number_, __ATOMIC_RELEASE); }

    void wait(const unsigned& word) const {
        Waiter waiter(1e9);
        while (read(word) != number_) {
            if (waiter.elapsed() > wait_ns) throw std::runtime_error("the device did not come to the judge's last kernel before a release");
            waiter.pause();
        }
    }

    template <class Kernel>
    void launch(Kernel kernel, unsigned in_block, unsigned first, unsigned long long second) {
        void* arguments[] = {&seen_, &first, &second};
        WARPBOARD_CUDA(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), dim3(1), dim3(in_block), arguments, 0, cudaStreamLegacy));
    }

    HoldPage* page_ = nullptr;
    void* seen_ = nullptr;  // where the device finds it
    unsigned number_ = 0, count_ = 0;
    unsigned *blank_ = nullptr, *kept_ = nullptr;
    Pieces pieces_;
};

}  // namespace warpboard

#endif
