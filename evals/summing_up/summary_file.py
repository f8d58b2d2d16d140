"""The content of summary.json, as models: what writes it is also what its published schema is made from.

Names are a promise. New ones may be added under the same format; one that goes or changes its meaning takes
a new format. `docs/summary.schema.json` is generated from here (`make schemas`).
"""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from ..comparing.arm_summary import ArmSummary
from ..comparing.comparison import CauseCounts, ChurnCounts, Comparison
from ..decision.gate import Decision, Ruling
from ..judging.ways import WayCode
from ..servers.counters import Counters
from ..servers.server import Speculating

# The format of summary.json and findings.jsonl.
# 1: the first.
FORMAT = 1


class _Entry(BaseModel):
    # Enums are written as plain strings by the model itself: a dump in mode "json" would do it as well, but
    # replaces lone surrogates in keys, and a server's finish_reason is such a key.
    model_config = ConfigDict(frozen=True, use_attribute_docstrings=True, use_enum_values=True)


class SuiteEntry(_Entry):
    """The samples that were asked."""

    digest: str
    """SHA-256 over the samples, whatever their order."""
    samples: int


class CountedEntry(_Entry):
    """What an arm's server counted over the run, other clients and all stages included."""

    drafts: int | None
    """Steps that verified a draft."""
    draft_tokens: int | None
    accepted_tokens: int | None
    accepted_per_position: list[int]
    generated_tokens: int | None
    drafted_share: float | None
    """Share of the generated tokens that came out of drafts."""
    prefix_queries: int | None
    prefix_hits: int | None

    @classmethod
    def of(cls, counted: Counters) -> "CountedEntry":
        """The counters' entry."""
        return cls(
            drafts=counted.drafts,
            draft_tokens=counted.draft_tokens,
            accepted_tokens=counted.accepted_tokens,
            accepted_per_position=list(counted.accepted_per_position),
            generated_tokens=counted.generated_tokens,
            drafted_share=counted.drafted_share,
            prefix_queries=counted.prefix_queries,
            prefix_hits=counted.prefix_hits,
        )


class WayEntry(_Entry):
    """A sample whose answer differs when it is asked, or read, in another way; it changes no grade."""

    arm: str
    id: str
    code: WayCode


class ArmEntry(_Entry):
    """One arm's first answers, counted. Draft figures are null where the server does not show them."""

    model: str
    attempts: int
    failed: int
    """Of these the endpoint brought no answer."""
    retried: int
    finish_reasons: dict[str, int]
    """As received; "null" counts answers without one."""
    endings: dict[str, int]
    cut: int
    passed: int = Field(serialization_alias="pass")
    wrong: int = Field(serialization_alias="fail")
    void: int
    """Could not be judged, the failed among them."""
    tokens_per_second: float | None
    """Median over requests; null for arms that were asked side by side, since they slowed each other."""
    draft_tokens: int | None
    accepted_tokens: int | None
    acceptance: float | None
    speculating: Speculating
    counted: CountedEntry | None
    """Null where the server shows no counters."""

    @classmethod
    def of(cls, arm: ArmSummary) -> "ArmEntry":
        """The arm's entry."""
        return cls(
            model=arm.model,
            attempts=arm.attempts,
            failed=arm.failed,
            retried=arm.retried,
            finish_reasons=arm.finish_reasons,
            endings=arm.endings,
            cut=arm.cut,
            passed=arm.passed,
            wrong=arm.wrong,
            void=arm.void,
            tokens_per_second=arm.tokens_per_second,
            draft_tokens=arm.draft_tokens,
            accepted_tokens=arm.accepted_tokens,
            acceptance=arm.acceptance,
            speculating=arm.speculating,
            counted=None if arm.counted is None else CountedEntry.of(arm.counted),
        )


class CountsEntry(_Entry):
    """Regressions, or fixes, by cause; `malformed` is `malformed_syntax` and `malformed_contract`."""

    total: int
    cap: int
    malformed: int
    real_change: int
    unresolved: int
    malformed_syntax: int
    malformed_contract: int

    @classmethod
    def of(cls, counts: CauseCounts) -> "CountsEntry":
        """The counts' entry."""
        return cls(
            total=counts.total,
            cap=counts.cap,
            malformed=counts.malformed,
            real_change=counts.real_change,
            unresolved=counts.unresolved,
            malformed_syntax=counts.syntax,
            malformed_contract=counts.contract,
        )


class ControlEntry(_Entry):
    """The baseline against itself, asked again: the noise floor."""

    compared: int
    churn: float | None
    """Share of the compared that changed; null where nothing was compared."""
    regressions: int
    fixes: int

    @classmethod
    def of(cls, control: ChurnCounts) -> "ControlEntry":
        """The control's entry."""
        return cls(
            compared=control.compared,
            churn=control.churn,
            regressions=control.regressions,
            fixes=control.fixes,
        )


class CategoryEntry(_Entry):
    """What the pairs of one category did; nothing is decided from it."""

    compared: int
    regressions: int
    fixes: int
    control: ControlEntry | None
    """What the baseline did against itself there; null where the run made no control."""

    @classmethod
    def of(cls, counts: ChurnCounts, control: ChurnCounts | None) -> "CategoryEntry":
        """The category's entry."""
        return cls(
            compared=counts.compared,
            regressions=counts.regressions,
            fixes=counts.fixes,
            control=None if control is None else ControlEntry.of(control),
        )


class ComparisonEntry(_Entry):
    """One candidate against the baseline."""

    baseline: str
    candidate: str
    decision: Decision
    reasons: list[str]
    samples: int
    compared: int
    """Pairs that are not void."""
    both_pass: int
    both_fail: int
    void: int
    regressions: CountsEntry
    fixes: CountsEntry
    net_rate: float | None
    """(regressions - fixes) / pairs in which one arm was right, those of the cap left out unless the gate
    counts them; null where no such pair exists."""
    net_rate_interval: Annotated[list[float], Field(min_length=2, max_length=2)] | None
    """Tango's score interval of it, at confidence 1 - 2 alpha."""
    mcnemar_p: float | None
    """One-sided mid-p."""
    control: ControlEntry | None
    """Null where the run made no control of this baseline."""
    by_category: dict[str, CategoryEntry]
    needed_max_tokens: int | None
    """The most tokens of any answer that was cut at first and finished later; null if there is none."""
    codes: dict[str, int]
    """Regressions by code."""
    void_codes: dict[str, int]

    @classmethod
    def of(cls, comparison: Comparison, ruling: Ruling) -> "ComparisonEntry":
        """The comparison's entry."""
        return cls(
            baseline=comparison.baseline,
            candidate=comparison.candidate,
            decision=ruling.decision,
            reasons=list(ruling.reasons),
            samples=comparison.samples,
            compared=comparison.compared,
            both_pass=comparison.both_pass,
            both_fail=comparison.both_fail,
            void=comparison.void,
            regressions=CountsEntry.of(comparison.regressions),
            fixes=CountsEntry.of(comparison.fixes),
            net_rate=ruling.net_rate,
            net_rate_interval=None if ruling.interval is None else list(ruling.interval),
            mcnemar_p=ruling.mcnemar_p,
            control=None if comparison.control is None else ControlEntry.of(comparison.control),
            by_category={
                category: CategoryEntry.of(counts, comparison.control_by_category.get(category))
                for category, counts in comparison.by_category.items()
            },
            needed_max_tokens=comparison.needed_max_tokens,
            codes=comparison.codes,
            void_codes=comparison.void_codes,
        )


class SummaryFile(_Entry):
    """What `draftproof gate` decided of a run, and the counts it decided from."""

    format: Literal[1] = FORMAT
    decision: Decision
    exit_code: int
    """0 pass, 1 regression, 3 inconclusive, 4 void."""
    complete: bool
    """False when some request was not made yet."""
    requests_saved: int
    """First and control requests never made, because a candidate had been called a regression on the way."""
    unreadable_lines: list[str]
    """Journal lines that could not be read, as FILE:LINE."""
    suite: SuiteEntry
    settings: dict[str, JsonValue]
    """How the run was asked, by the plan's keys; runs that differ here are not compared with each other."""
    arms: dict[str, ArmEntry]
    ways: list[WayEntry]
    comparisons: list[ComparisonEntry]

    def to_json(self) -> dict[str, JsonValue]:
        """The file's content, with the names of the contract."""
        return self.model_dump(by_alias=True)
