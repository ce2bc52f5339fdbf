// The socket from which the judge gets its runners, one after the other.
#ifndef WARPBOARD_DOOR_H
#define WARPBOARD_DOOR_H

#include <errno.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <memory>

#include "warpboard_session.h"

namespace warpboard {

constexpr int door_fd = 4;  // descriptor of the socket in the judge's process

// HandedRunner is a runner that the worker has sent through the socket: with its number, and with its life line, a pipe
// that closes at the end of its last process. The end of its channel proves nothing, because a runner can fake it.
struct HandedRunner {
    uint32_t number;
    Session session;
    int life_line;
    HandedRunner(uint32_t n, int channel, int page, int life) : number(n), session(channel, page), life_line(life) {}
    ~HandedRunner() { close(life_line); }
    HandedRunner(const HandedRunner&) = delete;
    HandedRunner& operator=(const HandedRunner&) = delete;

    void wait_gone() {
        session.wait_end();
        char byte;
        ssize_t n;
        do n = read(life_line, &byte, 1);
        while (n > 0 || (n < 0 && errno == EINTR));
    }
};

class Door {
public:
    // Waits for the next runner. Returns null if there is none.
    static std::unique_ptr<HandedRunner> next() {
        uint32_t number = 0;
        iovec data{&number, sizeof number};
        union {
            char bytes[CMSG_SPACE(3 * sizeof(int))];
            cmsghdr align;
        } control;
        msghdr message{};
        message.msg_iov = &data;
        message.msg_iovlen = 1;
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
        ssize_t n;
        do n = recvmsg(door_fd, &message, MSG_CMSG_CLOEXEC);
        while (n < 0 && errno == EINTR);
        const cmsghdr* rights = CMSG_FIRSTHDR(&message);
        if (n != sizeof number || rights == nullptr || rights->cmsg_len != CMSG_LEN(3 * sizeof(int))) return nullptr;
        int ends[3];
        std::memcpy(ends, CMSG_DATA(rights), sizeof ends);
        auto runner = std::make_unique<HandedRunner>(number, ends[0], ends[1], ends[2]);
        close(ends[1]);  // the page's descriptor; the page is mapped already
        return runner;
    }

    // Ends a runner's turn, and waits for the end of all its processes.
    static void end(HandedRunner& runner) {
        send(door_fd, &runner.number, sizeof runner.number, MSG_NOSIGNAL);
        runner.session.end();
        runner.wait_gone();
    }
};

}  // namespace warpboard

#endif
