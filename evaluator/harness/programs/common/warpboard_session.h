// The judge's side of one runner: its calls over channel and page, and the checks of all that the runner writes.
#ifndef WARPBOARD_SESSION_H
#define WARPBOARD_SESSION_H

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "warpboard_answer.h"
#include "warpboard_channel.h"
#include "warpboard_limits.h"
#include "warpboard_page.h"

namespace warpboard {

// Gone is thrown when the runner has ended or has closed its channel.
struct Gone {};

// Stamps has the times of one call in nanoseconds, and the runner's clock.
struct Stamps {
    double described = 0;
    bool at_description = false;  // the clock starts at described: the description reveals something of the input
    double released = 0;
    double done = 0;
    double sampled = 0;  // when a sample of the answer was taken; equal to done without one
    double copied = 0;
    double prepared = 0;  // time to write the input and flush, including turns of other contexts
    double written = 0;  // bytes of the input on the device
    bool at_once = false;  // all writes of the input were queued before the device began the first
    double switched = 0;  // time from the end of the judge's hold until the runner's gate ran
    double event = 0;
    bool late = false;      // released before everything was queued
    bool by_judge = false;  // only the judge's clocks count
};

// JudgePage is the judge's side of one runner's page: it writes the judge's words, and checks those that the runner
// writes.
class JudgePage {
public:
    JudgePage(JudgeChannel channel, MappedPage page) : channel_(channel), page_(page) {}
    JudgePage(const JudgePage&) = delete;
    JudgePage& operator=(const JudgePage&) = delete;

    // Forgets the calls' durations.
    void begin_case() { made_ = 0, took_ = 0; }

    // Starts the next call, with this many sealed records in its input. Returns its number.
    uint32_t begin(uint32_t flags, uint32_t sealed) {
        if (is_skipped_) end_skipped();
        limitless_ = (flags & CALL_RANGE) != 0 || made_++ < unlimited_calls;
        page_.page->ns.store(no_ns, std::memory_order_relaxed);
        page_.page->sealed.store(sealed, std::memory_order_relaxed);
        return ++number_;
    }

    // Return the number of the current call, and the page.
    uint32_t number() const { return number_; }
    Page* page() const { return page_.page; }

    // Waits until everything is queued, or the limit has passed; a negative limit means none.
    void wait_queued(double limit_ns, Stamps& stamps) {
        Waiter waiter;
        double watched = 0;
        while (!has_reached(page_.page->queued)) {
            const double passed = waiter.elapsed();
            stamps.late = limit_ns >= 0 && passed > limit_ns;
            if (stamps.late) return;
            watch(passed, watched, page_.page->queued);
            waiter.pause();
        }
    }

    // Lets the runner's gate run on the device, in place of the judge's hold.
    template <class Device>
    void let_in(Device& device) {
        page_.page->soon.store(number_, std::memory_order_release);
        device.let_go();
    }

    // Waits until the gate reports that it runs. If it reports this too early, the change of contexts counts as its
    // time.
    void wait_active() const {
        Waiter waiter(1e9);
        while (page_.page->active.load(std::memory_order_acquire) != number_ && waiter.elapsed() < gate_limit_ns) waiter.pause();
    }

    // Starts the clock and writes the key, which releases the call. It must follow wait_active at once: in between, the
    // submission can use the device and the unsealed parts of the input.
    template <class Device>
    void open(Device& device, Stamps& stamps) {
        refuse_if(device.has_sampled());
        refuse_if_done();
        stamps.released = now_ns();  // before the key: a runner may act as soon as it reads the key
        for (int i = 0; i < 3; ++i) page_.page->key[i].store(device.key().words[i], std::memory_order_relaxed);
        page_.page->release.store(number_, std::memory_order_release);
    }

    // Announces the release shortly before it, which wakes a sleeping runner.
    void announce_release() { page_.page->soon.store(number_, std::memory_order_release); }

    // Releases a call that waits on the host. The clock starts, and hand_over gives the runner its input.
    template <class HandOver>
    void release_host(Stamps& stamps, HandOver hand_over) {
        refuse_if_done();
        stamps.released = now_ns();
        hand_over();
        page_.page->release.store(number_, std::memory_order_release);
    }

    // Sends an input, with the descriptor of its memory if that is not negative. It ignores errors: wait_done detects a
    // runner that has ended.
    void send_input(const std::string& description, int memory) {
        channel_.send(FRAME_INPUT, description, memory < 0 ? std::vector<int>{} : std::vector<int>{memory});
    }

    // Releases a call without giving it an input, because it will not be used. The next call first waits for its end.
    void skip() {
        is_skipped_ = true;
        made_ -= made_ > 0;
        announce_release();
        page_.page->release.store(number_, std::memory_order_release);
    }

    // Ends the gates of this call and of all later ones, because the judge makes no more calls.
    void leave() {
        page_.page->release.store(~0u, std::memory_order_release);
        page_.page->soon.store(number_, std::memory_order_release);
    }

    // Waits for the end of the call.
    void wait_done(Stamps& stamps, bool on_device) {
        const double limit = limitless_ ? never : std::max(call_limit_ns, call_limit_factor * took_);
        if (!wait_for(page_.page->done, on_device, limit)) throw Refused{"A call had not ended after " + seconds(limit) + " s, and the longest before it took " + seconds(took_) + " s."};
        stamps.done = now_ns();
    }

    // Waits until a call that was released before it was queued, and is done, is queued: only then its answer is
    // described.
    void wait_described() {
        if (wait_for(page_.page->queued, true, after_done_limit_ns)) return;
        throw Refused{"The submission's process said that a call had ended, and " + seconds(after_done_limit_ns) + " s later not that it was queued."};
    }

    // Records the duration of a call that has ended, for the time limit of later calls.
    void keep(const Stamps& stamps) { took_ = std::max(took_, stamps.done - stamps.released); }

    // Reads the runner's clock, which may be reported after the end.
    void read_event(Stamps& stamps) {
        Waiter waiter;
        double watched = 0;
        while ((stamps.event = page_.page->ns.load(std::memory_order_acquire)) == no_ns) {
            watch(waiter.elapsed(), watched, page_.page->done);
            if (waiter.elapsed() > after_done_limit_ns) {
                throw Refused{"The submission's process said that a call had ended, and " + seconds(after_done_limit_ns) + " s later had not told its own time."};
            }
            waiter.pause();
        }
        if (!std::isfinite(stamps.event) || stamps.event < 0) {
            throw Refused{"The submission's process measured a time that cannot be."};
        }
    }

    // Returns the description of the answer.
    std::string answer() const {
        const size_t size = page_.page->size.load(std::memory_order_relaxed);
        if (size == 0 || size > page_.room) throw Refused{"The answer's description has a size that cannot be."};
        return std::string(reinterpret_cast<const char*>(page_.page->answer()), size);
    }

protected:
    void refuse_if_done() const { refuse_if(has_reached(page_.page->done)); }

    static void refuse_if(bool done) {
        if (done) throw Refused{"The submission's process said that a call had ended before its input was there."};
    }

    static void react(JudgeChannel::State state) {
        if (state == JudgeChannel::State::gone) throw Gone{};
        if (state != JudgeChannel::State::quiet) throw Refused{"The submission's process wrote to the judge out of turn."};
    }

    JudgeChannel channel_;
    MappedPage page_;
    uint32_t number_ = 0;

private:
    static constexpr double never = 1e18;

    static std::string seconds(double ns) {
        char text[32];
        std::snprintf(text, sizeof text, "%.3g", ns / 1e9);
        return text;
    }

    // Returns false if the limit passes first.
    bool wait_for(const std::atomic<uint32_t>& word, bool on_device, double limit_ns) {
        Waiter waiter = on_device ? Waiter::for_device() : Waiter();
        double watched = 0;
        while (!has_reached(word)) {
            const double passed = waiter.elapsed();
            if (passed > limit_ns) return false;
            watch(passed, watched, word);
            waiter.pause();
        }
        return true;
    }

    // Waits for the end of a skipped call, whose words and clock would otherwise be mistaken for those of the next
    // call.
    void end_skipped() {
        is_skipped_ = false;
        Stamps stamps;
        wait_done(stamps, true);
        wait_described();
        read_event(stamps);
    }

    // Reports whether a word has the current call's number.
    bool has_reached(const std::atomic<uint32_t>& word) const {
        const uint32_t value = word.load(std::memory_order_acquire);
        if (value != number_ && value != number_ - 1) {
            throw Refused{"The submission's process answered call " + std::to_string(value) + " when call " +
                          std::to_string(number_) + " was under way."};
        }
        return value == number_;
    }

    // Checks the channel once a millisecond, and throws if the runner has ended or written to it. If the runner had
    // already set the awaited word, its end is ignored.
    void watch(double passed, double& watched, const std::atomic<uint32_t>& word) {
        if (passed - watched < spin_ns) return;
        watched = passed;
        const JudgeChannel::State state = channel_.look(0);
        if (state == JudgeChannel::State::gone && has_reached(word)) return;
        react(state);
    }

    bool limitless_ = false;  // the current call has no limit
    bool is_skipped_ = false;  // the current call will not be made
    unsigned made_ = 0;  // number of calls in the case so far
    double took_ = 0;  // nanoseconds of the longest call in the case so far
};

// Session is the judge's side of one runner that it owns: its page, and the frames to it.
class Session : public JudgePage {
public:
    Session(int channel, int page) : JudgePage(JudgeChannel(channel), MappedPage(page)) {}

    // Releases a call in progress, which no longer counts: a process whose device waits for a release cannot end.
    ~Session() {
        leave();
        channel_.close();
    }

    // Waits until the submission is loaded.
    void wait_ready() {
        for (;;) {
            const JudgeChannel::State state = channel_.look(-1);
            if (state == JudgeChannel::State::ready) return;
            react(state);
        }
    }

    void share(const std::vector<Region>& regions, const std::vector<int>& descriptors) {
        Writer body;
        input_travels_ = false;
        for (const Region& region : regions) {
            input_travels_ |= region.kind == REGION_HOST && region.role == REGION_INPUTS && is_mapped_in_call(region.size);
            body.number<uint32_t>(region.kind);
            body.number<uint32_t>(region.role);
            body.number<uint64_t>(region.size);
        }
        send(FRAME_CASE, body.bytes(), descriptors);
    }

    // Starts the next call, with this many sealed records in its input.
    void announce(uint32_t flags, const std::string& description, uint32_t sealed, Stamps& stamps) {
        Writer body;
        body.number<uint32_t>(begin(flags, sealed));
        body.number<uint32_t>(flags);
        body.raw(description.data(), description.size());
        stamps.described = now_ns();
        send(FRAME_CALL, body.bytes());
    }

    // Releases a call that waits on the host. restore writes a small input; a large input is sent by the descriptor of
    // its memory.
    template <class Restore>
    void release_host(Stamps& stamps, int input, Restore restore) {
        JudgePage::release_host(stamps, [&] {
            restore();
            if (input_travels_) send_input("", input);
        });
    }

    // Releases a call on a device. First it ends the judge's hold, and the runner's gate starts. When the gate reports
    // that it runs, the clock starts and the key is written.
    template <class Device>
    void release_device(Stamps& stamps, Device& device) {
        const double begin = now_ns();
        let_in(device);
        wait_active();
        open(device, stamps);
        stamps.switched = stamps.released - begin;
    }

    // Waits for the end of the call. A call that was released late ends when all of it is queued, too.
    void wait_end_of_call(Stamps& stamps, bool on_device) {
        wait_done(stamps, on_device);
        if (on_device && stamps.late) {
            wait_described();
            stamps.done = now_ns();
        }
        keep(stamps);
    }

    // Sends END. It refuses a runner that wrote to the channel unnoticed, in a call too short for checking the channel.
    void end() {
        if (channel_.look(0) == JudgeChannel::State::spoke) react(JudgeChannel::State::spoke);
        channel_.send(FRAME_END, "");
    }

    // Waits for the end of the channel, and ignores further frames.
    void wait_end() {
        while (channel_.look(-1) != JudgeChannel::State::gone) {
        }
    }

private:
    void send(FrameKind kind, const std::string& body, const std::vector<int>& descriptors = {}) {
        if (!channel_.send(kind, body, descriptors)) throw Gone{};
    }

    bool input_travels_ = false;  // each call's input is sent in new memory
};

}  // namespace warpboard

#endif
