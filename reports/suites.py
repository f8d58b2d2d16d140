"""Suites as text: the built-in ones, the samples of one, one sample as JSON."""

import json

from ..errors import UserError
from ..tasks.raw_sample import sample_to_json
from ..tasks.sample import Sample
from ..tasks.suite import describe_suites, load_suites
from .visible import visible_line


def render_suites() -> str:
    """The built-in suites with their sizes and categories."""
    lines: list[str] = []
    for suite in describe_suites():
        lines.append(f"{suite.spec}  {suite.samples} samples")
        lines += [f"    {category:<20} {count:>4}" for category, count in suite.categories.items()]
    return "\n".join(lines) + "\n"


def render_suite(spec: str, sample_id: str | None) -> str:
    """The samples of a suite, one a line; or one of them whole, as JSON.

    Raises:
        UserError: The suite cannot be loaded, or has no such sample.
    """
    suite = load_suites([spec])
    if sample_id is None:
        return "".join(
            _line(sample) + "\n" for sample in sorted(suite.samples, key=lambda s: (s.category, s.id))
        )
    for sample in suite.samples:
        if sample.id == sample_id:
            return json.dumps(sample_to_json(sample), ensure_ascii=False, indent=2) + "\n"
    raise UserError(
        f"{spec}: no sample has the id {sample_id!r}", tip=f"`draftproof tasks show {spec}` lists them"
    )


def _line(sample: Sample) -> str:
    if sample.expected is None:
        due = "unlabelled"
    else:
        due = ", ".join(call.name for call in sample.expected.calls) or "no call"
    return visible_line(f"{sample.category:<16} {sample.id:<32} {due}")
