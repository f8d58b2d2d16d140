"""A report in Markdown, for a CI job summary or a pull request."""

import re

from ..evals.summary import Summary
from .contents import build_contents
from .table import Table
from .visible import visible_line

_SPECIAL = re.compile(r"([\\`*_{}\[\]<>|~&#])")


def render_markdown(summary: Summary) -> str:
    """The whole report; text of models and servers is escaped, so that it cannot be markup."""
    contents = build_contents(summary)
    lines = [f"# {_escape(contents.title)}", "", _escape(contents.asked), ""]
    lines += [f"**Decision: {contents.decision.value}** (exit code {contents.decision.exit_code})", ""]
    for verdict in contents.verdicts:
        lines.append(f"- **{_escape(verdict.candidate)}: {verdict.decision.value}**")
        lines += [f"  - {_escape(reason)}" for reason in verdict.reasons]
    for table in contents.tables:
        lines += ["", f"## {_escape(table.title)}", "", *_table(table)]
        if table.note:
            lines += ["", f"_{_escape(table.note)}_"]
    if contents.notes:
        lines += ["", "## Notes", "", *(f"- {_escape(note)}" for note in contents.notes)]
    return "\n".join(lines) + "\n"


def _table(table: Table) -> list[str]:
    if not table.rows:
        return ["None."]
    rule = ["---:" if column in table.numeric else "---" for column in range(len(table.header))]
    rows = [table.header, tuple(rule), *(tuple(map(_escape, row)) for row in table.rows)]
    return [f"| {' | '.join(row)} |" for row in rows]


def _escape(text: str) -> str:
    return _SPECIAL.sub(r"\\\1", visible_line(text))
