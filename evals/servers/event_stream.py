"""Server-sent events out of bytes, split anywhere: the data of each event, and nothing else.

    stream  := event*        event := line* EMPTY LINE
    line    := ":" comment | FIELD [":" [" "] VALUE]        ended by LF, CR or CRLF

The rules are those of the WHATWG HTML standard, section 9.2.6 ("Interpreting an event stream"), but for one:
an event that the end of the stream leaves unfinished is given out as well, since servers close right after
their last line.
"""

import codecs

# A longer event is no answer of a model; a server that never ends its line must not fill the memory.
LONGEST_EVENT_CHARACTERS = 64 * 1024 * 1024


class EventTooLongError(ValueError):
    """One event is longer than any answer could be."""


class EventReader:
    """Takes bytes as they arrive and returns the data of every event that is whole by then."""

    def __init__(self) -> None:
        # Invalid UTF-8 becomes U+FFFD, as the standard says; a byte order mark at the start is dropped.
        self._decoder = codecs.getincrementaldecoder("utf-8-sig")(errors="replace")
        self._line: list[str] = []
        self._data: list[str] = []
        self._size = 0
        self._may_skip_line_feed = False

    def feed(self, piece: bytes) -> list[str]:
        """Return the data of the events that this piece completes.

        Raises:
            EventTooLongError: The event in the making has grown beyond any measure.
        """
        return self._take(self._decoder.decode(piece))

    def close(self) -> list[str]:
        """Return what the end of the stream completes."""
        events = self._take(self._decoder.decode(b"", final=True))
        if self._line:
            self._end_line("".join(self._line))
            self._line.clear()
        if self._data:
            events.append(self._end_event())
        return events

    def _take(self, text: str) -> list[str]:
        events: list[str] = []
        if not text:  # an empty piece, or the first bytes of a letter: what came before is as it was
            return events
        if self._may_skip_line_feed:
            text = text.removeprefix("\n")
        # A CR at the end may be half of a CRLF: its line is over, and a coming LF belongs to it.
        self._may_skip_line_feed = text.endswith("\r")
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        *whole, rest = text.split("\n")
        for line in whole:
            self._grow(line)
            if self._line:
                line = "".join((*self._line, line))  # noqa: PLW2901 - its beginning came before
                self._line.clear()
            if line:
                self._end_line(line)
                continue
            if self._data:
                events.append(self._end_event())
            self._size = 0
        if rest:
            self._grow(rest)
            self._line.append(rest)
        return events

    def _grow(self, text: str) -> None:
        self._size += len(text)
        if self._size > LONGEST_EVENT_CHARACTERS:
            msg = f"an event of more than {LONGEST_EVENT_CHARACTERS:,} characters"
            raise EventTooLongError(msg)

    def _end_line(self, line: str) -> None:
        field, _, value = line.partition(":")
        if field == "data":
            self._data.append(value.removeprefix(" "))

    def _end_event(self) -> str:
        data = "\n".join(self._data)
        self._data.clear()
        return data
