"""What a dialect writes down while it reads: calls, defects, notes and the text between blocks."""

from collections.abc import Callable, Mapping, Sequence

from .codes import DefectCode, NoteCode
from .contract import keeps_contract, schema_defects, schema_notes
from .names import name_defect
from .reasoning import CALL_MARKUP, Split
from .result import Call, Defect, JsonObject, Note, Parsed, Span
from .tools import Tools


def _span(found: Call | Defect | Note) -> Span:
    return found.span


class Transcript:
    """Collects what one text gives, in any order, and closes it into a `Parsed`.

    Every character of a text belongs to one of four: thinking with its tags, a block (whole or broken, with
    its markup), a stray tag, or content. A dialect reports content piece by piece; the rest follows.
    """

    def __init__(self, text: str, tools: Tools | None, split: Split) -> None:
        self.text = text
        self.tools = tools
        self.is_open = split.is_open
        self._split = split
        self._calls: list[Call] = []
        self._defects: list[Defect] = []
        self._notes: list[Note] = []
        self._content: list[Span] = []
        if split.opening is not None and split.answer and split.opening.start:
            self.add_content(0, split.opening.start)  # whitespace before <think>
        self._judge_reasoning()

    def add_content(self, start: int, end: int) -> None:
        """Keep a piece of text outside blocks."""
        if start < end:
            self._content.append(Span(start, end))

    def add_defect(self, code: DefectCode, message: str, start: int, end: int) -> None:
        """Keep a defect and its place."""
        self._defects.append(Defect(code, message, Span(start, end)))

    def add_defects(self, defects: Sequence[Defect]) -> None:
        """Keep defects that were judged elsewhere."""
        self._defects.extend(defects)

    def add_note(self, code: NoteCode, message: str, start: int, end: int) -> None:
        """Keep a note and its place."""
        self._notes.append(Note(code, message, Span(start, end)))

    def add_call(self, name: str, arguments: JsonObject, block: Span) -> None:
        """Keep a call that is whole by its grammar."""
        self._calls.append(Call(name, arguments, block))

    def judge_contract(
        self,
        name: str,
        arguments: JsonObject,
        locate: Callable[[str], Span],
        places: Mapping[str, Span] | None = None,
    ) -> None:
        """Check a whole call against the declared tools; what only the contract refuses stays a call.

        Args:
            name: The function called.
            arguments: Its arguments.
            locate: Says where the value of "name" or "arguments" stands; asked only if there is something
                to say.
            places: Where the single parameters stand, in grammars that give each its own markup.
        """
        if self.tools is None or keeps_contract(self.tools, name, arguments):
            return
        nowhere = Span(0, 0)
        if name not in self.tools.functions:
            undeclared = name_defect(name, self.tools, locate("name"))
            self._defects.extend([undeclared] if undeclared is not None else [])
            return
        defects = schema_defects(self.tools, name, arguments, nowhere, places)
        notes = schema_notes(self.tools, name, arguments, nowhere, places)
        if defects or notes:
            place = locate("arguments")
            for found in defects:
                span = place if found.span == nowhere else found.span
                self._defects.append(Defect(found.code, found.message, span))
            for note in notes:
                span = place if note.span == nowhere else note.span
                self._notes.append(Note(note.code, note.message, span))

    def end_open(self, start: int, end: int) -> None:
        """Say that the text ended inside the block whose opening tag is given."""
        self.is_open = True
        message = "the block is not closed: the text ends inside it"
        self.add_defect(DefectCode.UNCLOSED_BLOCK, message, start, end)

    def finish(self) -> Parsed:
        """Return everything, ordered by position."""
        for found in (self._calls, self._defects, self._notes):
            if len(found) > 1:
                found.sort(key=_span)
        return Parsed(
            calls=tuple(self._calls),
            defects=tuple(self._defects),
            notes=tuple(self._notes),
            content="".join([self.text[start:end] for start, end in self._content]),
            reasoning=self.text[self._split.thinking.start : self._split.thinking.end],
            open=self.is_open,
        )

    def _judge_reasoning(self) -> None:
        opening, thinking = self._split.opening, self._split.thinking
        if opening is None:
            return
        if self._split.is_open:
            message = "thinking is not closed: the text ends without </think>"
            self.add_defect(DefectCode.UNCLOSED_REASONING, message, *opening)
        call = CALL_MARKUP.search(self.text, thinking.start, thinking.end)
        if call is not None:
            message = "a call begins inside thinking, where nobody looks for one"
            self.add_defect(DefectCode.CALL_IN_REASONING, message, *call.span())
