"""The report as one HTML file to look at and to send: no network, nothing a model wrote can act in it."""

import base64
import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.resources import files

from ..evals.arm_summary import ArmSummary
from ..evals.finding import Finding, Transition
from ..evals.speed import ArmSpeed
from ..evals.summary import Summary
from .contents import Contents, build_contents, category_table, cause_table
from .finding_rows import LISTED, OPENED, findings_json
from .plots import Forest, Scatter, lengths_plot, rates_plot
from .rates import net_rates
from .server_tables import speculation_table, speed_tables, ways_table
from .table import MISSING, Table


@dataclass(frozen=True, slots=True)
class _Page:
    """What the template draws."""

    contents: Contents
    causes: Table
    lengths: tuple[Scatter, ...]
    rates: tuple[Forest, ...]
    categories: Table
    margin: float
    confidence: float
    endings: Table
    speed: Table
    beside_speed: tuple[Table, ...]
    listed: int
    opened: int
    unlisted: str


def render_html(summary: Summary) -> str:
    """The whole report as one self-contained page.

    Text of models, servers and suites reaches the page in two ways only: through the template, which escapes
    it, and as JSON that the page's own script writes as text.
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    script = _resource("report.js")
    return environment.get_template("report.html.jinja").render(
        page=_page(summary),
        missing=MISSING,
        # These three are ours, or escaped already.
        style=Markup(_resource("report.css")),  # noqa: S704
        script=Markup(script),  # noqa: S704
        findings=Markup(findings_json(summary)),  # noqa: S704
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _page(summary: Summary) -> _Page:
    findings = [one for comparison in summary.comparisons for one in comparison.findings]
    listed = sum(one.transition in LISTED for one in findings)
    return _Page(
        contents=build_contents(summary, findings_shown=0),
        causes=cause_table(summary.comparisons),
        lengths=tuple(
            lengths_plot(summary.graded(), comparison.findings, summary.run.plan.run.max_tokens)
            for comparison in summary.comparisons
        ),
        rates=tuple(
            rates_plot(comparison.candidate, net_rates(comparison, summary.gate), summary.gate.margin)
            for comparison in summary.comparisons
        ),
        categories=category_table(summary.comparisons),
        margin=summary.gate.margin,
        confidence=1 - 2 * summary.gate.alpha,
        endings=_endings(summary.arms),
        speed=_speed(summary),
        beside_speed=tuple(_beside_speed(summary)),
        listed=listed,
        opened=min(listed, OPENED),
        unlisted=_unlisted(findings),
    )


def _unlisted(findings: Sequence[Finding]) -> str:
    right = sum(one.transition is Transition.BOTH_PASS for one in findings)
    wrong = sum(one.transition is Transition.BOTH_FAIL for one in findings)
    return f"{right} pairs right in both arms and {wrong} wrong in both are not listed"


def _endings(arms: Sequence[ArmSummary]) -> Table:
    """How first answers ended: by our reading, and as the server said."""
    endings = sorted({ending for arm in arms for ending in arm.endings})
    reasons = sorted({reason for arm in arms for reason in arm.finish_reasons})
    rows = [("n", *(str(arm.attempts) for arm in arms))]
    rows += [(ending, *(str(arm.endings.get(ending, 0)) for arm in arms)) for ending in endings]
    rows.append(("no answer (void)", *(str(arm.failed) for arm in arms)))
    rows += [
        (f"finish_reason {reason}", *(str(arm.finish_reasons.get(reason, 0)) for arm in arms))
        for reason in reasons
    ]
    header = ("first answers", *(arm.name for arm in arms))
    return Table("Endings", header, tuple(rows), frozenset(range(1, len(header))))


def _speed(summary: Summary) -> Table:
    speeds = {one.name: one for one in summary.speeds}
    rows = tuple(
        (
            arm.name,
            str(arm.attempts),
            arm.speculating.value,
            MISSING if arm.draft_tokens is None else f"{arm.draft_tokens:,}",
            MISSING if arm.accepted_tokens is None else f"{arm.accepted_tokens:,}",
            MISSING if arm.acceptance is None else f"{arm.acceptance:.0%}",
            _speed_cell(speeds.get(arm.name)),
        )
        for arm in summary.arms
    )
    return Table(
        "Speed and acceptance",
        ("arm", "n", "speculating", "drafted", "accepted", "acceptance", "tokens/s"),
        rows,
        frozenset((1, 3, 4, 5, 6)),
        None if speeds else "Speed is shown only for arms that were asked one at a time (in_turn = true).",
    )


def _speed_cell(speed: ArmSpeed | None) -> str:
    if speed is None or speed.tokens_per_second is None:
        return MISSING
    gain = "" if speed.speedup is None else f" ({speed.speedup:.2f}×)"
    return f"{speed.tokens_per_second:.0f}{gain}"


def _beside_speed(summary: Summary) -> Iterator[Table]:
    """What the servers themselves counted, measured and read, where they show it."""
    yield from speed_tables(summary.speeds)
    yield from filter(None, (speculation_table(summary.arms), ways_table(summary.ways)))


def _resource(name: str) -> str:
    return (files(__package__ or "") / "templates" / name).read_text(encoding="utf-8")
