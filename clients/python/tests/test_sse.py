"""Event streams are read as browsers read them."""

import unittest

from warpboard.sse import Message, messages


def read(text):
    return list(messages(line.encode() + b"\n" for line in text.split("\n")))


class Streams(unittest.TestCase):
    def test_fields_make_up_an_event(self):
        self.assertEqual(read('id: 7\nevent: stage\ndata: {"a":\ndata: 1}\n\n'), [Message("stage", "7", {"a": 1})])

    def test_the_space_after_the_colon_and_carriage_returns_do_not_count(self):
        self.assertEqual(read('data:{"a": 1}\r\n\r\n'), [Message(data={"a": 1})])

    def test_heartbeats_are_no_events(self):
        self.assertEqual(read(":\n\n:\n\ndata: 1\n\n"), [Message(data=1)])

    def test_an_event_without_data_keeps_its_name(self):
        self.assertEqual(read("event: end\ndata: \n\n"), [Message("end")])

    def test_a_pause_is_told(self):
        self.assertEqual(read("retry: 250\n\n"), [Message(retry=250)])

    def test_what_is_no_json_stays_text_and_what_is_cut_off_is_dropped(self):
        self.assertEqual(read("data: half\n\nid: 9\ndata: {}"), [Message(data="half")])


if __name__ == "__main__":
    unittest.main()
