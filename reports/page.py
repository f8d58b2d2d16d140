"""An HTML page to look at and to send: one file, no network, and nothing that a model wrote can act in it."""

import base64
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files

from ..evals.judging.finding import Transition
from ..evals.summing_up.pairing import Pair
from .finding_rows import LISTED, OPENED, findings_json
from .plots import Forest, Scatter, lengths_plot, rates_plot, rates_reach
from .rates import net_rates
from .table import MISSING
from .visible import visible_line


@dataclass(frozen=True, slots=True)
class PairPlots:
    """The pictures of two arms, and what the text beside them names."""

    caption: str
    lengths: Scatter
    rates: Forest
    margin: float
    confidence: float


@dataclass(frozen=True, slots=True)
class Listing:
    """How many findings the table lists, how many of them open, and what it leaves out."""

    listed: int
    opened: int
    unlisted: str


def draw_plots(pairs: Sequence[Pair]) -> tuple[PairPlots, ...]:
    """Lay out the pictures of each pair of arms, all rates to one scale.

    Args:
        pairs: The arms; margin and budget are those of the first left one's run.
    """
    summary = pairs[0].left.summary
    gate, cap = summary.gate, summary.run.plan.run.max_tokens
    rates = [net_rates(pair.comparison, gate) for pair in pairs]
    reach = rates_reach((whole for whole, *_ in rates), gate.margin)
    return tuple(
        PairPlots(
            caption=f"{pair.right.label} against {pair.left.label}",
            lengths=lengths_plot(pair.graded(), pair.comparison.findings, cap),
            rates=rates_plot(own, gate.margin, reach),
            margin=gate.margin,
            confidence=1 - 2 * gate.alpha,
        )
        for pair, own in zip(pairs, rates, strict=True)
    )


def list_findings(pairs: Sequence[Pair]) -> Listing:
    """What the table of findings says of itself."""
    became = [finding.transition for pair in pairs for finding in pair.comparison.findings]
    listed = sum(one in LISTED for one in became)
    right, wrong = became.count(Transition.BOTH_PASS), became.count(Transition.BOTH_FAIL)
    return Listing(
        listed,
        min(listed, OPENED),
        f"{right} pairs right in both arms and {wrong} wrong in both are not listed",
    )


def draw_page(template: str, page: object, pairs: Sequence[Pair], *, names_arms: bool = False) -> str:
    """Draw a page of `templates/`.

    Text of models, servers and suites reaches it in two ways only: through the template, which escapes it,
    and as JSON that the page's own script writes as text.

    Args:
        template: Its file.
        page: What it draws, under that name.
        pairs: Whose findings stand in its table.
        names_arms: Whether the table says which arm broke a sample (`findings_json`).
    """
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader(__package__ or "", "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=_shown,
    )
    script = _resource("findings.js")
    return environment.get_template(template).render(
        page=page,
        listing=list_findings(pairs),
        missing=MISSING,
        # These three are ours, or escaped already.
        style=Markup(_resource("page.css")),  # noqa: S704
        script=Markup(script),  # noqa: S704
        findings=Markup(findings_json(pairs, names_arms=names_arms)),  # noqa: S704
        script_hash=base64.b64encode(hashlib.sha256(script.encode()).digest()).decode(),
    )


def _shown(value: object) -> object:
    """What the template writes, on one line: a run's directory, too, may be called anything."""
    return visible_line(value) if type(value) is str else value


def _resource(name: str) -> str:
    return (files(__package__ or "") / "templates" / name).read_text(encoding="utf-8")
