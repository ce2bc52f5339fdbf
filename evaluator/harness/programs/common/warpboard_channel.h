// The stream socket between judge and runner: frames of a kind and a length. Only the judge sends descriptors.
#ifndef WARPBOARD_CHANNEL_H
#define WARPBOARD_CHANNEL_H

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace warpboard {

enum FrameKind : uint32_t { FRAME_READY = 1, FRAME_CASE = 1, FRAME_CALL = 2, FRAME_END = 3, FRAME_INPUT = 4 };

constexpr uint32_t CALL_RANGE = 1;  // flag of a call: the runner marks the call with a profiler range

struct FrameHead {
    uint32_t kind;
    uint32_t size;
};

constexpr size_t most_descriptors = 8;  // the maximum number of descriptors in one frame

// Control is the control message with descriptors.
union Control {
    char bytes[CMSG_SPACE(most_descriptors * sizeof(int))];
    cmsghdr align;
};

// JudgeChannel is the judge's end. It sends frames, and accepts only READY and the end of the channel. The operating
// system closes descriptors that a runner sends, because the judge receives without a buffer for them.
class JudgeChannel {
public:
    enum class State { quiet, ready, gone, spoke };

    explicit JudgeChannel(int fd) : fd_(fd) {}

    void close() const { ::close(fd_); }

    // Returns false if the runner's end is closed.
    bool send(FrameKind kind, const std::string& body, const std::vector<int>& descriptors = {}) {
        const FrameHead head{kind, static_cast<uint32_t>(body.size())};
        std::string frame(reinterpret_cast<const char*>(&head), sizeof head);
        frame += body;
        size_t sent = 0;
        if (!descriptors.empty()) {
            ssize_t n = send_with(frame, descriptors);
            if (n <= 0) return false;
            sent = static_cast<size_t>(n);
        }
        while (sent < frame.size()) {
            ssize_t n = ::send(fd_, frame.data() + sent, frame.size() - sent, MSG_NOSIGNAL);
            if (n < 0 && errno == EINTR) continue;
            if (n <= 0) return false;
            sent += static_cast<size_t>(n);
        }
        return true;
    }

    // Waits for a frame from the runner, at most wait_ms milliseconds; -1 means no limit.
    State look(int wait_ms) {
        pollfd poll_fd{fd_, POLLIN, 0};
        int n = poll(&poll_fd, 1, wait_ms);
        if (n < 0 && errno != EINTR) return State::gone;
        if (n <= 0) return State::quiet;
        FrameHead head{};
        ssize_t got = recv(fd_, &head, sizeof head, MSG_DONTWAIT);
        if (got <= 0) return State::gone;
        const bool ready = got == sizeof head && head.kind == FRAME_READY && head.size == 0;
        return ready && !ready_++ ? State::ready : State::spoke;
    }

private:
    ssize_t send_with(const std::string& frame, const std::vector<int>& descriptors) {
        const size_t size = descriptors.size() * sizeof(int);
        iovec data{const_cast<char*>(frame.data()), frame.size()};
        Control control;
        std::memset(&control, 0, sizeof control);
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = &control;
        message.msg_controllen = CMSG_SPACE(size);
        cmsghdr* rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(size);
        std::memcpy(CMSG_DATA(rights), descriptors.data(), size);
        ssize_t n;
        do n = sendmsg(fd_, &message, MSG_NOSIGNAL);
        while (n < 0 && errno == EINTR);
        return n;
    }

    int fd_;
    int ready_ = 0;
};

struct Frame {
    uint32_t kind = FRAME_END;
    std::string body;
    std::vector<int> descriptors;  // the receiver of the frame closes them
};

// RunnerChannel is the runner's end.
class RunnerChannel {
public:
    explicit RunnerChannel(int fd) : fd_(fd) {}

    void ready() {
        const FrameHead head{FRAME_READY, 0};
        while (::send(fd_, &head, sizeof head, MSG_NOSIGNAL) < 0 && errno == EINTR) {
        }
    }

    // Waits for the next frame. Returns an END frame if the judge has closed the channel.
    Frame receive() {
        Frame frame;
        FrameHead head{};
        if (read_all(&head, sizeof head, &frame.descriptors)) finish(head, frame);
        return frame;
    }

    // Reads the next frame if one has arrived; returns false if not. It does not wait.
    bool look(Frame& frame) {
        FrameHead head{};
        if (!read_all(&head, sizeof head, &frame.descriptors, MSG_DONTWAIT)) return errno != EAGAIN;
        finish(head, frame);
        return true;
    }

private:
    void finish(const FrameHead& head, Frame& frame) {
        frame.body.resize(head.size);
        if (read_all(&frame.body[0], head.size, nullptr)) frame.kind = head.kind;
    }

    bool read_all(void* into, size_t size, std::vector<int>* descriptors, int flags = 0) {
        for (size_t done = 0; done < size;) {
            iovec data{static_cast<char*>(into) + done, size - done};
            Control control;
            msghdr message{};
            message.msg_iov = &data;
            message.msg_iovlen = 1;
            if (descriptors != nullptr) {
                message.msg_control = &control;
                message.msg_controllen = sizeof control;
            }
            ssize_t n = recvmsg(fd_, &message, MSG_CMSG_CLOEXEC | flags);
            if (n < 0 && errno == EINTR) continue;
            if (n == 0) errno = 0;
            if (n <= 0) return false;
            if (descriptors != nullptr) collect(message, *descriptors);
            done += static_cast<size_t>(n);
        }
        return true;
    }

    static void collect(msghdr& message, std::vector<int>& descriptors) {
        for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
            if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
            const size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            const size_t before = descriptors.size();
            descriptors.resize(before + count);
            std::memcpy(descriptors.data() + before, CMSG_DATA(c), count * sizeof(int));
        }
    }

    int fd_;
};

}  // namespace warpboard

#endif
