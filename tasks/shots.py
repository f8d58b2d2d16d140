"""Worked examples before a sample: right calls of other samples with the same tools, as earlier turns.

Very small models answer in prose until they have seen a call. An example is a sample of the same suite with
one user turn and the same system turns, labelled with calls that can be dispatched, of tools that the sample
declares alike; it becomes that turn and an assistant turn with the calls. No turn gives a result (see
`tasks.builtin`).
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from ..parsers.contract import schema_defects
from ..parsers.result import Json, JsonObject, Span
from .bfcl_reference import reference_calls
from .sample import ExpectedCall, MatchRule, Sample
from .values import identity

_SYSTEM = frozenset(("system", "developer"))


@dataclass(frozen=True, slots=True)
class _Example:
    """A sample as an example: what was asked, the calls, and texts that compare both."""

    id: str
    ask: JsonObject
    calls: tuple[tuple[str, dict[str, Json]], ...]
    ask_identity: str
    calls_identity: str
    system_identity: str
    tools: frozenset[str]
    called: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How many examples a sample should get, and of which spec."""

    shots: int
    spec: str


class WorkedExamples:
    """Collects examples while samples are read, and puts some before each sample afterwards.

    Args:
        seed: Decides with the ids which examples a sample gets; the order of reading does not matter.
    """

    def __init__(self, seed: int) -> None:
        self._seed = seed
        # By the spec and one of the tools that an example calls.
        self._examples: dict[tuple[str, str], list[_Example]] = {}
        self._wanted: dict[str, _Wanted] = {}

    def learn(self, spec: str, sample: Sample, shots: int) -> None:
        """Remember that a sample wants examples, and the sample as an example for others of its spec."""
        self._wanted[sample.id] = _Wanted(shots, spec)
        if (example := _example(sample)) is not None:
            self._examples.setdefault((spec, min(example.called)), []).append(example)

    def before(self, sample: Sample) -> Sample:
        """Return the sample with its examples as earlier turns; their ids stand in `metadata.shots`."""
        if (wanted := self._wanted.get(sample.id)) is None:
            return sample
        chosen = self._chosen(sample, wanted)
        head = next(
            (n for n, turn in enumerate(sample.messages) if turn.get("role") not in _SYSTEM),
            len(sample.messages),
        )
        turns = list(_turns(chosen))
        ids: list[Json] = [one.id for one in chosen]
        return replace(
            sample,
            messages=(*sample.messages[:head], *turns, *sample.messages[head:]),
            metadata={**sample.metadata, "shots": ids},
        )

    def notes(self, samples: Sequence[Sample]) -> Iterator[str]:
        """Say how many samples got fewer examples than they should."""
        short = 0
        for sample in samples:
            wanted, got = self._wanted.get(sample.id), sample.metadata.get("shots")
            if wanted is not None and isinstance(got, list) and len(got) < wanted.shots:
                short += 1
        if short:
            yield (
                f"{short} of {len(samples)} samples have fewer worked examples than asked for: too few "
                "others of their suite have one user turn, another answer, and call only tools that they have"
            )

    def _chosen(self, sample: Sample, wanted: _Wanted) -> list[_Example]:
        own = _calls_identity(_calls(sample))
        asks = {identity(turn) for turn in sample.messages}

        tools = frozenset(_tool_digests(sample).values())
        system = _system_identity(sample)

        def position(example: _Example) -> tuple[bool, str]:
            text = f"{self._seed}:{sample.id}:{example.id}"
            return example.tools != tools, hashlib.sha256(text.encode()).hexdigest()

        # An example with the same question or the same answer would give the answer away.
        others = [
            one
            for tool in tools
            for one in self._examples.get((wanted.spec, tool), [])
            if one.called <= tools
            and one.id != sample.id
            and one.system_identity == system
            and one.ask_identity not in asks
            and one.calls_identity != own
        ]
        return sorted(others, key=position)[: wanted.shots]


def _example(sample: Sample) -> _Example | None:
    turns = [turn for turn in sample.messages if turn.get("role") not in _SYSTEM]
    calls = _calls(sample)
    if len(turns) != 1 or turns[0].get("role") != "user" or not calls:
        return None
    if any(schema_defects(sample.tools, name, arguments, Span(0, 0)) for name, arguments in calls):
        return None
    digests = _tool_digests(sample)
    return _Example(
        id=sample.id,
        ask=turns[0],
        calls=calls,
        ask_identity=identity(turns[0]),
        calls_identity=_calls_identity(calls),
        system_identity=_system_identity(sample),
        tools=frozenset(digests.values()),
        called=frozenset(digests[name] for name, _ in calls),
    )


def _system_identity(sample: Sample) -> str:
    """What the system turns say, as one text: an answer may rest on it."""
    return identity([turn for turn in sample.messages if turn.get("role") in _SYSTEM])


def _tool_digests(sample: Sample) -> dict[str, str]:
    """A digest of each declared tool, by name: equal where tools are declared alike."""
    return {
        name: hashlib.sha256(identity(tool).encode()).hexdigest()
        for name, tool in zip(sample.tools.functions, sample.tools.declared, strict=False)
    }


def _calls(sample: Sample) -> tuple[tuple[str, dict[str, Json]], ...]:
    if sample.expected is None:
        return ()
    if sample.expected.match is MatchRule.BFCL:
        return tuple((call.name, dict(call.arguments)) for call in reference_calls(sample.expected))
    return tuple((call.name, _arguments(call)) for call in sample.expected.calls)


def _arguments(call: ExpectedCall) -> dict[str, Json]:
    """The first right value of each parameter that may not be left out."""
    return {
        name: values[0] for name, values in call.arguments.items() if values and name not in call.optional
    }


def _calls_identity(calls: Sequence[tuple[str, dict[str, Json]]]) -> str:
    return "\n".join(sorted(identity([name, arguments]) for name, arguments in calls))


def _turns(examples: Sequence[_Example]) -> Iterator[JsonObject]:
    count = 0
    for example in examples:
        yield example.ask
        made: list[Json] = []
        for name, arguments in example.calls:
            count += 1
            function: JsonObject = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            made.append({"id": f"call_shot_{count}", "type": "function", "function": function})
        yield {"role": "assistant", "content": None, "tool_calls": made}
