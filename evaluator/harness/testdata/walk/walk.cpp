// Takes inputs and answers of every type that a task may use through shared memory and back.
#include <complex>
#include <cstdio>
#include <string>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_host.h"
#include "warpboard_input.h"
#include "warpboard_memory.h"

using namespace warpboard;

constexpr size_t region_bytes = size_t{1} << 20;
static int failures = 0;
#define WANT(...)                                                            \
    do {                                                                     \
        if (!(__VA_ARGS__)) {                                                \
            ++failures;                                                      \
            std::printf("%s:%d: %s\n", __FILE__, __LINE__, #__VA_ARGS__);    \
        }                                                                    \
    } while (0)

enum class Kind { plain, other };
struct Inner {
    int n = 0;
    std::string name;
    bool operator==(const Inner& o) const { return n == o.n && name == o.name; }
};
struct Plain {
    float x;
    short y[3];
    bool operator==(const Plain& o) const { return x == o.x && y[0] == o.y[0] && y[1] == o.y[1] && y[2] == o.y[2]; }
};
class Tied {
public:
    Tied() = default;
    explicit Tied(int n) : hidden_(n), values_(n, 1.5) {}
    bool operator==(const Tied& o) const { return hidden_ == o.hidden_ && values_ == o.values_; }
    friend auto members(Tied& t) { return std::tie(t.hidden_, t.values_); }

private:
    int hidden_ = 0;
    std::vector<double> values_;
};
struct Empty {
    bool operator==(const Empty&) const { return true; }
};
struct All {
    int number;
    double real;
    Kind kind;
    bool yes;
    std::complex<float> z;
    int shape[4];
    std::array<Plain, 2> plains;
    std::array<std::vector<int>, 2> pair_of_vectors;
    std::string text;
    std::string long_text;
    std::vector<float> floats;
    std::vector<Plain> structs;
    std::vector<std::vector<float>> rows;
    std::vector<std::string> words;
    std::vector<Inner> inners;
    std::pair<int, std::string> pair;
    std::tuple<char, std::vector<char>, Inner> tuple;
    Tied tied;
    Empty empty;
    std::vector<float> none;
};

static All sample() {
    All a{7, 2.5, Kind::other, true, {1, 2}, {1, 2, 3, 4}, {Plain{1, {2, 3, 4}}, Plain{5, {6, 7, 8}}}, {}, "short", std::string(5000, 'x'),
          std::vector<float>(3000, 1.25f), std::vector<Plain>(10, Plain{9, {1, 2, 3}}), {}, {"one", std::string(100, 'y'), ""}, {{1, "a"}, {2, std::string(40, 'b')}},
          {3, "three"}, {'c', std::vector<char>(20, 'd'), {4, "four"}}, Tied(6), {}, {}};
    a.pair_of_vectors[0] = {1, 2, 3};
    a.pair_of_vectors[1] = std::vector<int>(2000, 5);
    for (int i = 0; i < 5; ++i) a.rows.emplace_back(i * 600, static_cast<float>(i));
    return a;
}

static bool same(All& a, All& b) {
    bool equal = true;
    size_t members = 0;
    std::apply([&](auto&... left) {
        std::apply([&](auto&... right) {
            const auto one = [&](auto& l, auto& r) {
                using Member = std::decay_t<decltype(l)>;
                bool same = false;
                if constexpr (std::is_pointer_v<Member>) same = std::memcmp(l, r, sizeof l) == 0;
                else same = l == r;
                ++members;
                if (!same) std::printf("member %zu differs\n", members);
                equal &= same;
            };
            (one(left, right), ...);
        }, fields(b));
    }, fields(a));
    return equal && members == 20;
}

static Region region(RegionRole role, size_t bytes) {
    Region r;
    r.role = role;
    r.size = bytes;
    const int fd = make_shared_memory(bytes);
    WANT(host_space().map(r, fd));
    close(fd);
    return r;
}

static void inputs(bool released) {
    All mine = sample();
    InputLayout layout(mine, released);
    Region in = region(REGION_INPUTS, rounded(layout.host_bytes() + 1, region_bytes)), none;
    WANT(layout.host_bytes() > 0 == released);
    All theirs{};
    InputMaker<HeapMemory<HostRunner>> maker(layout.description(), released, in, none);
    maker.make(theirs);
    if (released) WANT(theirs.floats == std::vector<float>(3000));  // nothing is there before the release
    for (const Placed& p : layout.contents()) std::memcpy(in.base + p.offset, p.data, p.bytes);
    maker.fill();
    WANT(same(mine, theirs));
    WANT(in.holds(theirs.floats.data(), 12000) == released);
    WANT(in.holds(theirs.long_text.data(), 5000) == released);
    WANT(in.holds(theirs.rows[4].data(), 9600) == released);
    All copy = theirs;  // of the submission's: memory of its own
    WANT(!in.holds(copy.floats.data(), 12000) && same(copy, mine));
}

static void answers() {
    HostRunner device;
    HeapMemory<HostRunner> memory(device);
    std::vector<Region> regions{region(REGION_INPUTS, region_bytes), region(REGION_ANSWERS, region_bytes)};
    std::vector<Plain> outside(1000, Plain{1, {2, 3, 4}});  // before there is an arena
    host_space().serve(regions[1]);
    All mine = sample();
    mine.structs = std::move(outside);
    WANT(regions[1].holds(mine.floats.data(), 12000));
    WANT(!regions[1].holds(mine.structs.data(), 1));
    AnswerWriter<HeapMemory<HostRunner>> writer(regions, memory);
    writer.add(mine);
    const std::string description = writer.description(8192);
    WANT(description[0] == ANSWER_FOLLOWS);
    WANT(writer.description(100)[0] == ANSWER_CANNOT);
    All theirs{};
    const std::string body = description.substr(1);
    AnswerReader reader(body, regions, most_answer());
    reader.read(theirs);
    size_t in_region = 0;
    for (const AnswerReader::Copy& c : reader.copies()) {
        std::memcpy(c.into, c.from, c.bytes);
        in_region += regions[1].holds(c.from, c.bytes);
    }
    WANT(same(mine, theirs));
    WANT(in_region >= 7);
    memory.give_copies();

    std::vector<char> large(region_bytes + 1);  // more than the region: from malloc, and no room to copy it
    WANT(!regions[1].holds(large.data(), 1));
    AnswerWriter<HeapMemory<HostRunner>> full(regions, memory);
    full.add(large);
    const std::string need = full.description(8192);
    WANT(need[0] == ANSWER_NEEDS_ROOM && need.size() == 9);
    uint64_t bytes;
    std::memcpy(&bytes, need.data() + 1, 8);
    WANT(bytes > region_bytes && bytes < 4 * region_bytes);
    WANT(!host_space().retire());  // mine is still alive
}

// The arena hands out the same memory again when all is back, and never the same twice.
static void arena() {
    Region r = region(REGION_ANSWERS, region_bytes);
    Arena a;
    WANT(a.open(r));
    std::vector<void*> blocks;
    const size_t sizes[] = {1, 4096, 4097, 10000, 50000, 300000, 0};
    for (int round = 0; round < 3; ++round) {
        std::vector<std::pair<unsigned char*, size_t>> live;
        for (int i = 0; i < 200; ++i) {
            const size_t size = sizes[(i * 7 + round) % 7];
            auto* block = static_cast<unsigned char*>(a.take(size));
            if (block == nullptr) continue;
            WANT(r.holds(block, size) && a.size_of(block) >= size && reinterpret_cast<uintptr_t>(block) % 4096 == 0);
            for (auto& [other, bytes] : live) WANT(block + size <= other || other + bytes <= block || size == 0 || bytes == 0);
            live.emplace_back(block, size);
            if (i % 3 == 0) {
                a.give(live.front().first);
                live.erase(live.begin());
            }
        }
        for (auto& [block, size] : live) a.give(block);
        WANT(a.take(region_bytes) == r.base);
        WANT(a.take(1) == nullptr);
        a.give(r.base);
    }
    void* kept = a.take(1);
    WANT(!a.close());
    WANT(a.take(1) == nullptr);
    a.give(kept);
    WANT(a.close());
}

// What is freed holds nothing, but for the time of a call.
static void poison() {
    auto* block = static_cast<unsigned char*>(operator new(600));
    std::memset(block, 1, 600);
    operator delete(block);
    auto* again = static_cast<unsigned char*>(operator new(600));
    WANT(again == block && again[300] == 0xFF);
    operator delete(again);
}

int main() {
    inputs(true);
    inputs(false);
    arena();
    poison();
    answers();
    return failures == 0 ? 0 : 1;
}
