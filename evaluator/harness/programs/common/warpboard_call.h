// One call from the judge's side: a new input, the release, the answer, and its check.
#ifndef WARPBOARD_CALL_H
#define WARPBOARD_CALL_H

#include <algorithm>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "warpboard_buffers.h"
#include "warpboard_cases.h"
#include "warpboard_clocks.h"
#include "warpboard_numerics.h"
#include "warpboard_session.h"
#include "warpboard_verdict.h"

namespace warpboard {

// Runs a function of the task. Exceptions of the function are the task's fault.
template <class Function>
auto of_task(const char* name, Function function) {
    try {
        return function();
    } catch (const std::bad_alloc&) {
        throw TaskFailed{std::string(name) + " ran out of memory."};
    } catch (const std::exception& e) {
        throw TaskFailed{std::string(name) + " failed: " + e.what()};
    }
}

// Calls makes the calls of a case and checks every answer.
template <class Task, class Device>
class Calls {
public:
    Calls(Session& session, Device& device) : session_(session), device_(device), buffers_(device) {}

    // Starts a case, and forgets the previous one. described_early means that the descriptions of the case's inputs
    // differ from call to call.
    void begin_case(bool described_early = false) {
        session_.begin_case();
        buffers_.begin_case();
        first_description_.clear();
        described_early_ = described_early;
        grown_ = 0;
        least_prepared_ = 0;
        rests_ = false;
    }

    // Makes one call. If fresh is set, its input comes from a new secret seed and key, else from the case's seed.
    Verdict call(const Case& c, bool fresh, uint32_t flags, Stamps& stamps) {
        for (;;) {
            stamps = Stamps{};
            draw(c, fresh);
            share();
            // The rest must come before the description, with which some clocks start.
            if (rests_ || least_prepared_ == 0) device_.rest();
            stamps.at_description = described_early_;
            const bool first = prepares_first();
            if (first) prepare(0, false);
            session_.announce(flags, drawn_->layout.description(), choose_sealed(), stamps);
            session_.wait_queued(Device::released_on_host ? -1 : described_early_ ? early_queued_limit_ns : queued_limit_ns, stamps);
            device_.sample_after(session_.page(), session_.number());
            copies_.clear();
            if (!Device::released_on_host && !stamps.late) foresee();
            const bool foreseen = !copies_.empty();
            or_abandon([&] {
                if (!first) prepare(session_.number(), foreseen);
                if constexpr (Device::released_on_host) session_.release_host(stamps, buffers_.host_inputs(), [this] { device_.restore(); });
                else session_.release_device(stamps, device_);
                session_.wait_end_of_call(stamps, !Device::released_on_host);
            });
            if (!foreseen) answer_ = session_.answer();
            if (answer_[0] == ANSWER_NEEDS_ROOM) {
                grow();
                continue;
            }
            if (answer_[0] == ANSWER_CANNOT) return {false, "the answer cannot be handed over: " + printable(answer_.substr(1))};
            if (answer_[0] != ANSWER_FOLLOWS) throw Refused{"The answer's description is not one."};
            if (!foreseen) read_answer();
            or_abandon([&] { copy(stamps); });
            session_.read_event(stamps);
            if (device_.changed()) return {false, still_changed};
            stamps.prepared = device_.writing_took();
            stamps.written = written();
            detect_turns(stamps.prepared);
            stamps.at_once = device_.at_once();
            stamps.by_judge = Device::switches_in_call;
            return check();
        }
    }

    // Makes the submission responsible for later failures of the checker, because the tests have passed. Otherwise a
    // kernel that detects a slow process could end its run with a failure of the task, which does not count.
    void blame_answers() {
        blames_answers_ = true;
        device_.blame_runner();
    }

    // Makes the judge's own runner overwrite the memory of the last answer in its calls.
    template <class Own>
    void overwrite_answer(Own& own) {
        own.overwrite(buffers_.regions(), buffers_.descriptors(), copies_);
    }

    // Does the same as overwrite_answer, but after the submission has ended: with a new input of the case, and an
    // answer of parts of these sizes on the device, which are copied into memory of the judge until end_stand_in.
    template <class Own>
    void stand_in(Own& own, const Case& c, const std::vector<size_t>& parts) {
        draw(c, true);
        fit();
        copies_ = buffers_.like(parts);
        for (AnswerReader::Copy& copy : copies_) copy.into = device_.borrow(copy.bytes);
        overwrite_answer(own);
    }
    void end_stand_in() {
        for (AnswerReader::Copy& copy : copies_) device_.give_back(copy.into);
        copies_.clear();
    }

    // Runs a part of a call. If the part fails, it releases all queued work that waits for the judge: a process with
    // waiting work on a device cannot end.
    template <class Part>
    void or_abandon(Part part) {
        try {
            part();
        } catch (...) {
            device_.abandon();
            throw;
        }
    }

    // Chooses the sealed parts of the input. Returns the number of records.
    unsigned choose_sealed() { return buffers_.choose_sealed(drawn_->layout); }

    // Overwrites the last answer, writes the input of the call with this number, and flushes the caches. The judge then
    // keeps the device busy until let_go. It queues the copies of the answer if known says that the answer's places
    // are known.
    void prepare(uint32_t number, bool known) {
        queued_ = known;
        buffers_.poison(last_);
        last_.clear();
        // In calls that are prepared first, the runner still creates its next input in this memory.
        if (!prepares_first()) buffers_.empty_input();
        buffers_.begin_writing(number);
        buffers_.write(drawn_->layout);
        device_.flush();
        device_.hold();
        if (queued_) device_.queue_copies(copies_);
        device_.start();
    }
    int host_inputs() const { return buffers_.host_inputs(); }

    // Returns the size of the last input's arrays on a device.
    double written() const { return static_cast<double>(drawn_->layout.device_bytes()); }

    // Returns the longest time to map the last input, in nanoseconds.
    double most_mapping() const { return buffers_.most_mapping(); }

    // Returns the sizes of the last answer's parts on a device.
    std::vector<size_t> answer_parts() const {
        std::vector<size_t> parts;
        for (const AnswerReader::Copy& copy : copies_) {
            if (copy.device) parts.push_back(copy.bytes);
        }
        return parts;
    }

    // Returns the size of the last answer's parts on the host.
    size_t answer_on_host() const {
        size_t bytes = 0;
        for (const AnswerReader::Copy& copy : copies_) bytes += copy.device ? 0 : copy.bytes;
        return bytes;
    }

    // Copies the last answer.
    void copy(Stamps& stamps) {
        last_ = copies_;
        if (!queued_) device_.queue_copies(copies_);
        device_.open_gate();
        stamps.sampled = device_.wait_sampled() ? now_ns() : stamps.done;
        buffers_.copy(copies_);
        device_.wait_copied();
        stamps.copied = now_ns();
    }

    // Reports the errors of the last answer against the task's answer in double precision.
    void log_numerics(Report& report, const std::string& prefix) { warpboard::log_numerics(report, prefix, drawn_->input, *output_); }

    // Reports whether the input is written and caches are flushed before the description is sent: on a host this takes
    // milliseconds, which would count if the clock starts with the description.
    bool prepares_first() const { return Device::released_on_host && described_early_; }

private:
    using Input = typename Task::Input;
    using Output = typename Task::Output;

    struct Drawn {
        Input input;
        InputLayout layout;
        explicit Drawn(Input&& made) : input(std::move(made)), layout(input, Device::released_on_host) {}
    };

    void draw(const Case& c, bool fresh) {
        drawn_.reset();  // before the next input is made: memory may not suffice for both
        drawn_ = of_task("generate_input", [&] { return std::make_unique<Drawn>(Task::input(c, fresh)); });
        const std::string& description = drawn_->layout.description();
        if (first_description_.empty()) first_description_ = description;
        described_early_ |= description != first_description_;
    }

    void share() {
        if (fit()) session_.share(buffers_.regions(), buffers_.descriptors());
    }

    // Allocates shared memory for the input and answer if needed. Returns true if the memory has changed.
    bool fit() {
        const InputLayout& layout = drawn_->layout;
        const size_t host = layout.host_bytes(), device = layout.device_bytes();
        Needs needs{host, device, std::max({host_answers_, 2 * host, least_host_answers}), std::max(device_answers_, device)};
        const bool changed = of_task("Making the memory that kernel and judge share", [&] { return buffers_.fit(needs); });
        if (changed) copies_.clear(), last_.clear();
        return changed;
    }

    Verdict check() {
        try {
            return of_task("check_implementation", [&] { return Task::check(drawn_->input, *output_); });
        } catch (const TaskFailed& failed) {
            if (!blames_answers_) throw;
            return {false, failed.sentence};
        }
    }

    // Detects time slices of the runner's context while the judge writes an input. If a runner has several waiting
    // streams, a device that has worked for the judge for about 2 ms gives the runner a time slice of 2.4 ms, which
    // interrupts the writing if generating the input took long. After the first such slice, the judge leaves the device
    // idle before each input, which restarts its 2 ms. The first call of a case shows the usual duration of writing. A
    // much larger input may look like such a slice, but no time is added to a call because of this.
    void detect_turns(double prepared) {
        if (least_prepared_ == 0 || prepared < least_prepared_) least_prepared_ = prepared;
        rests_ = rests_ || prepared > least_prepared_ + least_turn_ns;
    }

    // Reads an answer's description before the release: the whole call is queued, so the places are known.
    void foresee() {
        answer_ = session_.answer();
        if (answer_[0] == ANSWER_FOLLOWS) read_answer();
    }

    void read_answer() {
        AnswerReader reader(body(), buffers_.regions(), most_answer());
        if (!output_) output_.emplace();
        try {
            reader.read(*output_);
        } catch (const std::bad_alloc&) {
            throw Refused{"The answer cannot be read: it takes more memory than there is."};
        }
        copies_ = reader.copies();
    }

    const std::string& body() {
        body_ = answer_.substr(1);
        return body_;
    }

    void grow() {
        Reader in(answer_.data() + 1, answer_.size() - 1);
        const uint64_t bytes = answer_.size() == 1 + sizeof(uint64_t) ? in.number<uint64_t>() : ~uint64_t{0};
        if (++grown_ > 3) throw Refused{"The answer needed more shared memory each time that it was given more."};
        if (bytes > std::min<uint64_t>(device_.free_memory(), most_answer())) throw Refused{"The answer needs more shared memory than there is."};
        host_answers_ = std::max<size_t>(host_answers_, bytes);
        if (!Device::released_on_host) device_answers_ = std::max<size_t>(device_answers_, bytes);
    }

    static std::string printable(std::string text) {
        if (text.size() > 300) text.resize(300);
        for (char& c : text) {
            if (c < ' ' || c > '~') c = '?';
        }
        return text;
    }

    static constexpr const char* still_changed =
        "The answer still changed when the kernel was said to be done: something of it ran on.";
    static constexpr double least_turn_ns = 1e6;
    static constexpr size_t least_host_answers = Device::released_on_host ? least_answers : size_t{4} << 20;

    Session& session_;
    Device& device_;
    Buffers<Device> buffers_;
    std::unique_ptr<Drawn> drawn_;
    std::optional<Output> output_;
    std::string answer_, body_;
    std::vector<AnswerReader::Copy> copies_, last_;  // copies of this call's answer and of the previous answer
    std::string first_description_;
    bool described_early_ = false, blames_answers_ = false, rests_ = false;
    double least_prepared_ = 0;  // shortest time to write an input in this case, in nanoseconds
    bool queued_ = false;  // copies of this call's answer are queued
    int grown_ = 0;
    size_t host_answers_ = 0;
    size_t device_answers_ = 0;
};

}  // namespace warpboard

#endif
