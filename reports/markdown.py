"""A report, or a comparison of arms, in Markdown: for a CI job summary or a pull request."""

import re
from collections.abc import Iterable, Iterator

from ..evals.summing_up.summary import Summary
from .contents import CandidateVerdict, build_contents
from .diff import Diff
from .table import Table
from .visible import visible_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#])")
_MARKER = re.compile(r"^(\s*\d*)([-+.)](?:\s|$))")


def render_markdown(summary: Summary, *, findings_shown: int = 50) -> str:
    """The whole report; text of models and servers is escaped, so that it cannot be markup."""
    contents = build_contents(summary, findings_shown=findings_shown)
    lines = [f"# {_escape(contents.title)}", "", _escape(contents.asked), ""]
    lines += [f"**Decision: {contents.decision.value}** (exit code {contents.decision.exit_code})", ""]
    lines += _verdicts(contents.verdicts)
    lines += _sections(contents.tables)
    if contents.notes:
        lines += ["", "## Notes", "", *(f"- {_escape(note)}" for note in contents.notes)]
    return "\n".join(lines) + "\n"


def render_diff_markdown(diff: Diff) -> str:
    """A comparison of arms, escaped in the same way."""
    lines = [f"# {_escape(diff.title)}", "", _escape(diff.asked), ""]
    if diff.choice is not None:
        lines += [f"**Choice: {_escape(diff.choice.arm or 'none')}** ({_escape(diff.choice.reason)})", ""]
    lines += _verdicts(diff.verdicts)
    lines += [f"- {_escape(sentence)}" for sentence in diff.sentences]
    return "\n".join([*lines, *_sections(diff.tables)]) + "\n"


def render_markdown_within(summary: Summary, size: int) -> str:
    """The report in at most `size` bytes of UTF-8: findings go first, then whatever stands last.

    A page that drops what is too long (a job summary) would show nothing otherwise.
    """
    for findings_shown in (50, 10, 0):
        text = render_markdown(summary, findings_shown=findings_shown)
        if len(text.encode("utf-8")) <= size:
            return text
    left_out = "\n\n… the rest did not fit.\n"
    kept = text.encode("utf-8")[: max(0, size - len(left_out.encode("utf-8")))].decode("utf-8", "ignore")
    return f"{kept}{left_out}" if kept else ""


def _verdicts(verdicts: Iterable[CandidateVerdict]) -> Iterator[str]:
    for verdict in verdicts:
        yield f"- **{_escape(verdict.candidate)}: {verdict.decision.value}**"
        yield from (f"  - {_escape(reason)}" for reason in verdict.reasons)


def _sections(tables: Iterable[Table]) -> Iterator[str]:
    for table in tables:
        yield from ("", f"## {_escape(table.title)}", "", *_table(table))
        if table.note:
            yield from ("", f"_{_escape(table.note)}_")


def _table(table: Table) -> list[str]:
    if not table.rows:
        return [] if table.note else ["None."]
    rule = ["---:" if column in table.numeric else "---" for column in range(len(table.header))]
    header, *body = (tuple(map(_escape, row)) for row in (table.header, *table.rows))
    rows = [header, tuple(rule), *body]
    return [f"| {' | '.join(row)} |" for row in rows]


def _escape(text: str) -> str:
    """The text as text; a dash, plus or number that would begin a list at the start is escaped as well."""
    return _MARKER.sub(r"\1\\\2", _SPECIAL.sub(r"\\\1", visible_line(text)))
