// Where the judge gets its runners, one after the other.
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

constexpr int door_fd = 4;  // the judge's

// A runner with the number that the other side of the door knows it by.
struct HandedRunner {
    uint32_t number;
    Session session;
    HandedRunner(uint32_t n, int channel, int page) : number(n), session(channel, page) {}
};

class Door {
public:
    // Waits for the next runner; null when there is no other.
    static std::unique_ptr<HandedRunner> next() {
        uint32_t number = 0;
        iovec data{&number, sizeof number};
        union {
            char bytes[CMSG_SPACE(2 * sizeof(int))];
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
        if (n != sizeof number || rights == nullptr || rights->cmsg_len != CMSG_LEN(2 * sizeof(int))) return nullptr;
        int ends[2];
        std::memcpy(ends, CMSG_DATA(rights), sizeof ends);
        auto runner = std::make_unique<HandedRunner>(number, ends[0], ends[1]);
        close(ends[1]);  // it is mapped
        return runner;
    }

    // Ends a runner's turn, and waits until nothing of it is left.
    static void end(HandedRunner& runner) {
        send(door_fd, &runner.number, sizeof runner.number, MSG_NOSIGNAL);
        runner.session.end();
        runner.session.wait_gone();
    }
};

}  // namespace warpboard

#endif
