"""Preflight: may these arms be compared at all? What confounds a comparison stops the run before it asks.

What two servers say of themselves is held against each other: another model, context or prompt changes
answers just as speculation does, and the report could not tell them apart. Only what both tell is compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ...errors import UserError
from ..arm import Arm
from ..attempt import Body
from ..plan import Allowed, Plan
from .endpoint import Endpoint
from .rendered import fingerprint
from .server import RenderedPrompt, ServerFacts, ServerKind, Speculating


@dataclass(frozen=True, slots=True)
class Obstacle:
    """One difference that would confound the comparison, and the name that allows it."""

    name: Allowed
    words: str


@dataclass(frozen=True, slots=True)
class Preflight:
    """What stands against a run, and what is only worth telling."""

    obstacles: tuple[Obstacle, ...]
    notes: tuple[str, ...]

    def refuse(self, allowed: Sequence[Allowed]) -> None:
        """Stop the run, unless each obstacle is allowed by name.

        Raises:
            UserError: Names every obstacle that is not allowed (exit code 4).
        """
        left = [one for one in self.obstacles if one.name not in allowed]
        if left:
            names = dict.fromkeys(one.name for one in left)
            raise UserError(
                "these arms cannot be compared: " + "; ".join(one.words for one in left),
                tip="start the servers alike, or allow it: " + " ".join(f"--allow {name}" for name in names),
                exit_code=4,
            )


async def read_prompt(endpoint: Endpoint, body: Body) -> RenderedPrompt | None:
    """Ask a server how it renders a request; one page, and None where it has none."""
    return fingerprint(await endpoint.render(body))


def check_arms(plan: Plan, facts: Mapping[str, ServerFacts]) -> Preflight:
    """Hold every arm that is known against the baseline.

    Args:
        plan: The arms, and what the gate requires of them.
        facts: By arm; those of servers that were not met yet are missing.
    """
    obstacles: list[Obstacle] = []
    notes: list[str] = []
    for arm in plan.arms:
        if (known := facts.get(arm.name)) is not None:
            obstacles += _lone(plan, arm, known)
            notes += _unlisted(arm, known)
    one = plan.baseline
    for other in plan.candidates:
        if one.model != other.model:
            words = f"{one.name} asks the model {one.model}, {other.name} {other.model}"
            obstacles.append(Obstacle("model", words))
        if one.name in facts and other.name in facts:
            obstacles += _pair(one, facts[one.name], other, facts[other.name])
            notes += _engines(one, facts[one.name], other, facts[other.name])
            notes += _one_server(one, other)
    return Preflight(tuple(obstacles), tuple(notes))


def _lone(plan: Plan, arm: Arm, facts: ServerFacts) -> list[Obstacle]:
    """What is wrong with one arm by itself."""
    found: list[Obstacle] = []
    # vLLM answers 404 to a name that it does not list; others answer to any.
    if facts.kind is ServerKind.VLLM and facts.models and arm.model not in facts.models:
        listed = ", ".join(facts.models)
        found.append(Obstacle("model", f"{arm.name} has no model {arm.model} (its server lists {listed})"))
    is_required = plan.gate.require_speculation is not False
    match (arm is plan.baseline, facts.speculating):
        case (True, Speculating.ON) if is_required:
            found.append(Obstacle("speculation", f"the baseline {arm.name} speculates"))
        case (False, Speculating.OFF) if is_required:
            found.append(Obstacle("speculation", f"the candidate {arm.name} does not speculate"))
        case _:
            pass
    return found


def _unlisted(arm: Arm, facts: ServerFacts) -> list[str]:
    if facts.kind is ServerKind.VLLM or not facts.models or arm.model in facts.models:
        return []
    return [f"arm {arm.name}: its server does not list {arm.model} (it lists {', '.join(facts.models)})"]


def _pair(one: Arm, mine: ServerFacts, other: Arm, theirs: ServerFacts) -> list[Obstacle]:
    found: list[Obstacle] = []
    if mine.context is not None and theirs.context is not None and mine.context != theirs.context:
        words = f"{one.name} has a context of {mine.context} tokens, {other.name} of {theirs.context}"
        found.append(Obstacle("context", words))
    # Token ids of one server and text of another are two things that nobody can compare.
    if (
        mine.prompt is not None
        and theirs.prompt is not None
        and mine.prompt.unit == theirs.prompt.unit
        and mine.prompt != theirs.prompt
    ):
        words = (
            f"{one.name} renders the first sample as {mine.prompt.text}, "
            f"{other.name} as {theirs.prompt.text}: another chat template or tokenizer"
        )
        found.append(Obstacle("prompt", words))
    return found


def _one_server(one: Arm, other: Arm) -> list[str]:
    """Two arms that nothing tells apart; servers that the tool starts itself follow each other there."""
    if one.serve is not None or other.serve is not None:
        return []
    if (one.base_url, one.extra_body, one.headers) != (other.base_url, other.extra_body, other.headers):
        return []
    how = f"arms {one.name} and {other.name} are asked in the same way at {one.base_url}"
    return [f"{how}: unless another server is started there in between, an arm is compared with itself"]


def _engines(one: Arm, mine: ServerFacts, other: Arm, theirs: ServerFacts) -> list[str]:
    if mine.kind is not theirs.kind:
        return [f"arms {one.name} and {other.name} are two engines: {mine.kind.value}, {theirs.kind.value}"]
    if mine.version is not None and theirs.version is not None and mine.version != theirs.version:
        return [f"arms {one.name} and {other.name} are two versions: {mine.version}, {theirs.version}"]
    return []
