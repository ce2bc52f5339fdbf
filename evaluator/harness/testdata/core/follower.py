"""Runners for the calls of conformance.py: one that follows evaluator/judge/doc.go, and others that do not. They are
processes without torch. The words of the page that the protocol leaves free direct them."""

import ctypes
import json
import os
import time
import types

from warpboard_cuda import Mapping, call, import_handle, queue_wait, queue_write, seen_by_device
from warpboard_layout import restore
from warpboard_seal import Gate
from warpboard_wire import ANSWERS, CALL, CASE, CUDA, INPUTS, PAGE_SIZE, READY, SEALED, unpack_call, unpack_case

RELEASE, QUEUED, DONE, SOON = 0, 16, 32, 64
# Free words: the answer's place, whether to wait for the device, when to go on then; requests to note what the inputs'
# region has, and to change the answer, each with the runner's echo.
PLACE, LATE, GO, LOOK, LOOKED, CHANGE, CHANGED, HOLD_UP = range(128, 136)


def words_of(page):
    return memoryview(page.memory)[:4096].cast("I")


class Follower:
    """Follower answers with copies of all arrays of the input, one behind the other."""

    def __init__(self, channel, page, seen_file):
        self.channel, self.page, self.words, self._seen_file = channel, page, words_of(page), seen_file
        self._at = seen_by_device(page.address(), PAGE_SIZE).value
        ready = ctypes.c_uint64()
        call("cuMemAlloc_v2", ctypes.byref(ready), ctypes.c_size_t(32))
        self._gate = Gate(ctypes.c_uint64(self._at), ready.value)
        self.regions = {}

    def word(self, index):
        return ctypes.c_uint64(self._at + 4 * index)

    def serve(self):
        self.channel.send(READY)
        while True:
            kind, payload, descriptors = self.channel.receive()
            if kind == CASE:
                torch = types.SimpleNamespace(as_tensor=lambda *_, **__: None)
                self.regions = {role: Mapping(torch, import_handle(fd), size, 0)
                                for (kind, role, size), fd in zip(unpack_case(payload), descriptors) if kind == CUDA}
                for fd in descriptors:
                    os.close(fd)
            elif kind == CALL:
                number, _, description = unpack_call(payload)
                self.call(number, restore(description, lambda _kind, offset, span, _key: (offset, span)))
            else:
                call("cuCtxSynchronize")  # nothing may wait any longer
                return

    def call(self, number, arrays):
        late = self.words[LATE]
        self.queue_gate(number)
        self.work(number, arrays)
        self.queue_done(number)
        if late:
            self.wait(DONE, number)
            self.wait(GO, number)
        self.describe(number, arrays)
        self.page.queue(number)
        self.settle(number)

    def queue_gate(self, number):
        queue_wait(self.word(SOON), number)
        self._gate.queue(number, self.regions[INPUTS].address, self.regions[SEALED].address, self.page.sealed)

    def work(self, number, arrays):
        to = self.regions[ANSWERS].address + self.words[PLACE]
        for offset, span in arrays:
            array = self.regions[INPUTS].address + offset
            call("cuMemcpyDtoDAsync_v2", ctypes.c_uint64(to), ctypes.c_uint64(array), ctypes.c_size_t(span), None)
            to += span

    def queue_done(self, number):
        queue_write(self.word(DONE), number)

    def describe(self, number, arrays):
        parts, to = [], self.words[PLACE]
        for _, span in arrays:
            parts.append(["tensor", CUDA, "uint8", [span], None, "answers", to])
            to += span
        self.page.describe(b"A" + json.dumps(["list", parts]).encode())

    def settle(self, number):
        """Waits for the device, and does as asked."""
        self.wait(DONE, number)
        self.page.say(1000.0)

    def wait(self, word, number):
        while self.words[word] != number:
            if self.words[LOOK] != self.words[LOOKED]:
                inputs = self.regions[INPUTS]
                with open(self._seen_file, "wb") as file:
                    file.write(ctypes.string_at(inputs.address, inputs.size))
                self.words[LOOKED] = self.words[LOOK]
            time.sleep(0)


class Changing(Follower):
    """Says that a call is done, and then overwrites its answer."""

    def settle(self, number):
        super().settle(number)
        self.wait(CHANGE, number)
        ctypes.memset(self.regions[ANSWERS].address + self.words[PLACE], 0x11, 64)
        self.words[CHANGED] = number


class DoneBefore(Follower):
    def queue_gate(self, number):
        super().queue_gate(number)
        self.words[DONE] = number


class SampledBefore(Follower):
    """Says that its call is done until the judge has sampled the answer, and takes that back before the release."""

    def settle(self, number):
        self.words[DONE] = number
        self.wait(HOLD_UP, 1)
        self.words[DONE] = number - 1
        super().settle(number)


class QueuedOther(Follower):
    def describe(self, number, arrays):
        super().describe(number, arrays)
        self.words[QUEUED] = number + 76
        while self.words[RELEASE] != number:  # the judge has left
            time.sleep(0)


class DoneOther(Follower):
    def queue_done(self, number):
        queue_write(self.word(DONE), number + 76)


class NeverQueued(Follower):
    def describe(self, number, arrays):
        os._exit(0) if self.channel.receive()[0] is None else None


class NeverDone(Follower):
    """From the sixth call on."""

    def queue_done(self, number):
        if number > 5:
            queue_wait(self.word(RELEASE), number + 1)  # which never comes
        super().queue_done(number)

    def settle(self, number):
        if number > 5:
            os._exit(0 if self.channel.receive()[0] is None else 1)
        super().settle(number)


class Dying(Follower):
    def describe(self, number, arrays):
        os._exit(3)


class DyingLater(NeverDone):
    def settle(self, number):
        if number > 5:
            self.wait(RELEASE, number)
            os._exit(3)
        super().settle(number)


class Talking(Follower):
    """Speaks in a call that does not end: the judge finds it in a short one only at the runner's end."""

    def queue_done(self, number):
        queue_wait(self.word(HOLD_UP), 1)  # which never comes
        super().queue_done(number)

    def settle(self, number):
        self.channel.send(READY)
        os._exit(0 if self.channel.receive()[0] is None else 1)


class Growing(Follower):
    """Needs more room in its first call, whose work then goes on until HOLD_UP is set."""

    def queue_done(self, number):
        if number == 1:
            queue_wait(self.word(HOLD_UP), 1)
        super().queue_done(number)

    def describe(self, number, arrays):
        if number == 1:
            self.page.describe(b"N" + (3 << 20).to_bytes(8, "little"))
        else:
            super().describe(number, arrays)


class Slow(Follower):
    """Queues its first call only after its release."""

    def queue_gate(self, number):
        if number == 1:
            self.wait(RELEASE, number)
        super().queue_gate(number)


class Raising(Follower):
    """Its first call ends with an error."""

    def describe(self, number, arrays):
        if number == 1:
            self.page.describe(b"Bcustom_kernel has no answer")
        else:
            super().describe(number, arrays)


class Babbling(Follower):
    def describe(self, number, arrays):
        self.page.describe(b"What?")
