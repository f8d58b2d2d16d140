"""One candidate against the baseline, counted: what the gate decides from and every report shows."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ..judging.finding import Cause, Finding, Transition
from ..judging.grade import Fault, Verdict
from ..plan import GateSection


@dataclass(frozen=True, slots=True)
class CauseCounts:
    """Regressions, or fixes, by cause; `syntax` and `contract` are the two classes of `malformed`."""

    total: int
    cap: int
    malformed: int
    real_change: int
    unresolved: int
    syntax: int
    contract: int

    def without_cap(self, *, cap_counts: bool) -> int:
        """What counts in the test: all but the cap's, unless the gate is told to fail on those too."""
        return self.total if cap_counts else self.total - self.cap


@dataclass(frozen=True, slots=True)
class ChurnCounts:
    """Pairs of answers compared: the baseline and a candidate, or the baseline and itself asked again."""

    compared: int
    regressions: int
    fixes: int

    @property
    def churn(self) -> float | None:
        """Share of compared samples that changed; None where nothing was compared."""
        return (self.regressions + self.fixes) / self.compared if self.compared else None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Counts of one candidate against the baseline.

    `compared` are the pairs that are not void. `informative` are those in which at least one arm was right:
    samples that both get wrong carry no information about safety. `reproduced_syntax` are regressions of
    class syntax that showed again, or were never asked again; `reproduced_wide` the same of regressions whose
    first diverging token the baseline was sure against. `by_category` has what each category's pairs did, and
    `control_by_category` what the baseline did against itself there.
    """

    baseline: str
    candidate: str
    findings: tuple[Finding, ...]
    samples: int
    compared: int
    both_pass: int
    both_fail: int
    void: int
    regressions: CauseCounts
    fixes: CauseCounts
    control: ChurnCounts | None
    codes: dict[str, int]
    void_codes: dict[str, int]
    candidate_only_failures: int
    reproduced_syntax: int
    needed_max_tokens: int | None
    reproduced_wide: int = 0
    by_category: Mapping[str, ChurnCounts] = field(default_factory=dict[str, ChurnCounts])
    control_by_category: Mapping[str, ChurnCounts] = field(default_factory=dict[str, ChurnCounts])

    @property
    def informative(self) -> int:
        """Pairs in which at least one arm was right."""
        return self.compared - self.both_fail

    def counted(self, gate: GateSection) -> tuple[int, int]:
        """Regressions and fixes that the tests count: the cap's only where the gate is told to."""
        cap_counts = gate.cap == "fail"
        return self.regressions.without_cap(cap_counts=cap_counts), self.fixes.without_cap(
            cap_counts=cap_counts
        )

    def without_known(self) -> "Comparison":
        """The same pairs, with known regressions and fixes counted as pairs that did not change."""
        new = [finding for finding in self.findings if not finding.is_known]
        regressions = [finding for finding in new if finding.transition is Transition.REGRESSION]
        fixes = [finding for finding in new if finding.transition is Transition.FIX]
        return replace(
            self,
            regressions=_by_cause(regressions),
            fixes=_by_cause(fixes),
            codes=_codes(regressions),
            reproduced_syntax=_reproduced_syntax(regressions),
            reproduced_wide=_reproduced_wide(regressions),
        )


def compare_arms(
    pair: tuple[str, str],
    findings: Sequence[Finding],
    control: Sequence[tuple[str, Transition]] | None,
    needed_max_tokens: int | None,
) -> Comparison:
    """Count the findings of one pair of arms; a shard that no sample fell to has none.

    Args:
        pair: The names of baseline and candidate.
        findings: One for each sample.
        control: What the baseline did against itself, with each sample's category; None without a control.
        needed_max_tokens: The most tokens that an answer needed which was cut at first.
    """
    transitions = Counter(finding.transition for finding in findings)
    regressions = [finding for finding in findings if finding.transition is Transition.REGRESSION]
    fixes = [finding for finding in findings if finding.transition is Transition.FIX]
    voids = [finding for finding in findings if finding.transition is Transition.VOID]
    return Comparison(
        baseline=pair[0],
        candidate=pair[1],
        findings=tuple(findings),
        samples=len(findings),
        compared=len(findings) - transitions[Transition.VOID],
        both_pass=transitions[Transition.BOTH_PASS],
        both_fail=transitions[Transition.BOTH_FAIL],
        void=transitions[Transition.VOID],
        regressions=_by_cause(regressions),
        fixes=_by_cause(fixes),
        control=None if control is None else count_churn(transition for _, transition in control),
        codes=_codes(regressions),
        void_codes=_codes(voids),
        candidate_only_failures=sum(map(_void_in_candidate_only, voids)),
        reproduced_syntax=_reproduced_syntax(regressions),
        needed_max_tokens=needed_max_tokens,
        reproduced_wide=_reproduced_wide(regressions),
        by_category=churn_by_category((finding.category, finding.transition) for finding in findings),
        control_by_category=churn_by_category(control or ()),
    )


def churn_by_category(pairs: Iterable[tuple[str, Transition]]) -> dict[str, ChurnCounts]:
    """Count each category's pairs apart, the categories in alphabetical order."""
    transitions: defaultdict[str, list[Transition]] = defaultdict(list)
    for category, transition in pairs:
        transitions[category].append(transition)
    return {category: count_churn(transitions[category]) for category in sorted(transitions)}


def count_churn(transitions: Iterable[Transition]) -> ChurnCounts:
    """Count the pairs that changed, of those that could be compared."""
    counts = Counter(transitions)
    return ChurnCounts(
        compared=counts.total() - counts[Transition.VOID],
        regressions=counts[Transition.REGRESSION],
        fixes=counts[Transition.FIX],
    )


def _by_cause(findings: Sequence[Finding]) -> CauseCounts:
    causes = Counter(finding.cause for finding in findings)
    malformed = Counter(finding.fault for finding in findings if finding.cause is Cause.MALFORMED)
    return CauseCounts(
        total=len(findings),
        cap=causes[Cause.CAP],
        malformed=causes[Cause.MALFORMED],
        real_change=causes[Cause.REAL_CHANGE],
        unresolved=causes[Cause.UNRESOLVED],
        syntax=malformed[Fault.SYNTAX],
        contract=malformed[Fault.CONTRACT],
    )


def _reproduced_syntax(regressions: Iterable[Finding]) -> int:
    return sum(finding.fault is Fault.SYNTAX and _is_reproduced(finding) for finding in regressions)


def _reproduced_wide(regressions: Iterable[Finding]) -> int:
    return sum(_is_wide(finding) and _is_reproduced(finding) for finding in regressions)


def _codes(findings: Iterable[Finding]) -> dict[str, int]:
    counts = Counter(finding.code for finding in findings if finding.code is not None)
    return {code: counts[code] for code in sorted(counts)}


def _is_reproduced(finding: Finding) -> bool:
    """True for what showed again, and for what was never asked again: nobody knows better."""
    return finding.reproduced is None or finding.reproduced[0] > 0


def _is_wide(finding: Finding) -> bool:
    """True where the first diverging token was no near-tie for the baseline."""
    divergence = finding.evidence.get("divergence")
    return isinstance(divergence, dict) and divergence.get("label") == "wide"


def _void_in_candidate_only(finding: Finding) -> bool:
    """True when the candidate brought nothing to judge where the baseline did: failed, aborted, filtered."""
    is_lone = finding.candidate_grade is Verdict.VOID and finding.baseline_grade is not Verdict.VOID
    return is_lone or (finding.is_candidate_failure and not finding.is_baseline_failure)
