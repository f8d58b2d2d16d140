"""Endings and streams: does `finish_reason` tell the truth, are tokens counted, and how do streams come?"""

from ..servers.response import Completion
from .check import Check, Failure, Verdict
from .probe_client import COPY, STORY, ProbeClient, text_of, tokens_of

CAPS = (1, 2, 3, 4)


async def check_caps(client: ProbeClient) -> tuple[Check, ...]:
    """Ask for less than the answer needs: every ending must be `length`, at the cap and nowhere else."""
    answers = [(cap, await client.ask(COPY, budget=cap)) for cap in CAPS]
    streamed = await client.ask(COPY, budget=CAPS[-1], stream=True)
    whole = _cap_check("finish_reason", answers)
    return (
        whole,
        _cap_check("finish_reason, streamed", [(CAPS[-1], streamed)]),
        _usage_check("usage", answers[-1][1]),
        _usage_check("usage, streamed", streamed),
    )


def _cap_check(name: str, answers: list[tuple[int, Completion | Failure]]) -> Check:
    lies: list[str] = []
    counts: list[int | None] = []
    for cap, answer in answers:
        if isinstance(answer, Failure):
            return answer.check(name)
        tokens = tokens_of(answer)
        counts.append(tokens)
        if answer.finish_reason != "length":
            lies.append(f"max_tokens {cap}: says {answer.finish_reason!r}, not 'length'")
        elif tokens is not None and tokens != cap:
            lies.append(f"max_tokens {cap}: {tokens} tokens")
    if lies:
        return Check(name, Verdict.WRONG, "; ".join(lies))
    caps = ", ".join(str(cap) for cap, _ in answers)
    uncounted = " (tokens not counted)" if None in counts else ", with exactly as many tokens"
    return Check(name, Verdict.OK, f"'length' at max_tokens {caps}{uncounted}")


def _usage_check(name: str, answer: Completion | Failure) -> Check:
    if isinstance(answer, Failure):
        return answer.check(name)
    usage = answer.usage
    if usage is None:
        return Check(name, Verdict.WRONG, "absent")
    missing = [
        field for field in ("prompt_tokens", "completion_tokens") if getattr(usage, field, None) is None
    ]
    if missing:
        return Check(name, Verdict.WRONG, f"without {' and '.join(missing)}")
    return Check(name, Verdict.OK, "prompt_tokens and completion_tokens")


async def check_streaming(client: ProbeClient, greedy: str | None) -> Check:
    """Stream what was answered whole before: the same text must come, in whatever chunks.

    Args:
        client: Asks.
        greedy: The whole answer to the same question; None where the server does not repeat itself.
    """
    name = "streaming"
    answer = await client.ask(STORY, stream=True)
    if isinstance(answer, Failure):
        return answer.check(name)
    if answer.chunks is None:
        return Check(name, Verdict.IGNORED, "the answer comes whole, not as a stream")
    if greedy is not None and text_of(answer) != greedy:
        return Check(name, Verdict.WRONG, "the streamed text is not the text of the same answer in one piece")
    copied = await client.ask(COPY, stream=True)
    if isinstance(copied, Failure):
        return copied.check(name)
    counts = f"{copied.chunks} chunks for {tokens_of(copied) or 'an unknown number of'} tokens of a copy"
    return Check(name, Verdict.OK, counts)
