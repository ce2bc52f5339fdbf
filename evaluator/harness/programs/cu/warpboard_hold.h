// The device stays with the judge from the first byte of an input to the release: the last thing that the judge queues
// is a kernel that spins until the release. Without it, a device that idles there goes to the runner's context too
// early now and then: the hand-over was shorter by 75 µs in some calls, and a kernel that waited for the input had it early.
// Where another context had a turn nevertheless, the kernel sees a gap.
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
    unsigned long long held_at;            // when all was written, but for the pieces
    unsigned long long gap;                // the longest time without the device after that
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

// Spins until a word is number; false after most nanoseconds. Of all the time without the device the longest is the gap.
static __device__ bool spin(const volatile unsigned* word, unsigned number, unsigned long long most, unsigned long long* last, unsigned long long* gap) {
    const unsigned long long first = *last;
    for (;;) {
        const bool there = *word == number;
        unsigned long long now;
        WARPBOARD_DEVICE_NS(now);
        if (now - *last > *gap) *gap = now - *last;
        *last = now;
        if (there) return true;
        if (now - first > most) {
            *gap = now - first;
            return false;
        }
    }
}

// One kernel, for the device looks between kernels whether another context has work, which takes it 70 µs. It ends some
// time after most nanoseconds in any case, and says that all of that was a gap.
static __global__ void hold_device(volatile HoldPage* page, unsigned count, unsigned long long number_and_most) {
    __shared__ Piece pieces[HoldPage::most_pieces];
    read_pieces(page, count, pieces);
    move_pieces(pieces, count, &Piece::kept, &Piece::kept);  // into the cache
    volatile HoldWords* words = &page->words;
    const auto number = static_cast<unsigned>(number_and_most >> 32);
    const unsigned long long most = number_and_most & 0xFFFFFFFF;
    unsigned long long last = 0, gap = 0;
    if (threadIdx.x == 0) {
        WARPBOARD_DEVICE_NS(last);
        words->held_at = last;
        __threadfence_system();
        words->held = number;
        spin(&words->restore, number, most, &last, &gap);
    }
    __syncthreads();
    move_pieces(pieces, count, &Piece::to, &Piece::kept);
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0) words->restored = number;
    move_pieces(pieces, count, &Piece::own, &Piece::kept);
    if (threadIdx.x == 0) {
        spin(&words->released, number, most, &last, &gap);
        words->gap = gap;
    }
}

// Chooses the pieces of an input that are put in their places last.
class Pieces {
public:
    // Writes them to list, and returns how many. Blank is memory with something else for arrays that are one piece or
    // few, kept has room for all pieces. Nothing of an array that is not aligned to words is held back.
    size_t choose(const std::vector<WrittenArray>& arrays, unsigned* blank, unsigned* kept, Piece* list) {
        const size_t most = HoldPage::most_pieces, share = std::max<size_t>(1, most / std::max<size_t>(1, arrays.size()));
        size_t count = 0;
        for (const WrittenArray& array : arrays) {
            const size_t words = array.bytes / 4, room = std::min(share, most - count);
            if ((reinterpret_cast<uintptr_t>(array.to) | reinterpret_cast<uintptr_t>(array.from)) % 4 != 0) continue;
            Piece* next = list + count;
            const bool small = words <= room * piece || room < 2;
            const size_t n = small ? whole(array, words, room, blank, next) : parts(array, words, room, kept + count * piece, next);
            for (size_t i = 0; i < n; ++i) list[count + i].kept = kept + (count + i) * piece;
            count += n;
        }
        return count;
    }

private:
    static constexpr size_t piece = HoldPage::piece_words;

    // All of a small array, or the beginning of one of very many.
    static size_t whole(const WrittenArray& array, size_t words, size_t room, unsigned* blank, Piece* list) {
        size_t n = 0;
        for (size_t at = 0; at < words && n < room; at += piece, ++n) list[n] = {to(array) + at, own(array) + at, blank, nullptr, std::min(piece, words - at)};
        return n;
    }

    // One piece somewhere in each of as many stretches; another's contents take its place.
    size_t parts(const WrittenArray& array, size_t words, size_t n, unsigned* kept, Piece* list) {
        const size_t stretch = words / n;
        for (size_t i = 0; i < n; ++i) {
            const size_t at = i * stretch + random_() % (stretch - piece + 1);
            list[i] = {to(array) + at, own(array) + at, kept + (i + 1) % n * piece, nullptr, piece};
        }
        return n;
    }

    static unsigned* to(const WrittenArray& array) { return static_cast<unsigned*>(array.to); }
    static unsigned* own(const WrittenArray& array) { return static_cast<unsigned*>(const_cast<void*>(array.from)); }

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
        launch(begin_writing, 1, 0, 0);
        count_ = static_cast<unsigned>(pieces_.choose(arrays, blank_, kept_, page_->pieces));
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

    // The nanoseconds from begin to the release in which something else could run; only once the kernel has ended.
    double took() const {
        return static_cast<double>(read(page_->words.held_at) - read(page_->words.first) + read(page_->words.gap));
    }

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
