"""A run with three arms in which everything a report can show happens once."""

from dataclasses import replace

from draftproof.evals.attempt import ErrorType, Stage

from ..evals.build import BROKEN, BUDGET, OPEN, RIGHT, WRONG, attempt, block, record, sample

HOSTILE = (
    "\x1b]0;owned\x07\x1b[2J</script><script>document.title='owned'</script>"
    "<img src=x onerror=\"document.title='owned'\"><!-- \u202eevil\u2028\x00\ud800"
)
LONG_LINE = HOSTILE + "A" * 1_000_000
BODY = {
    "model": "m",
    "messages": [
        {"role": "user", "content": "It's \"quoted\", costs $HOME `id` \\ and\nbreaks; 東京 '''\u202e BODY"}
    ],
    "max_tokens": BUDGET,
}
THINKING = "<think>Let me see"

# What each arm first says to each sample: content, finish_reason, tokens; an ErrorType where it failed.
SAID = {
    "cap": (RIGHT, OPEN, RIGHT),
    "thinking": (RIGHT, RIGHT, THINKING),
    "unresolved": (RIGHT, RIGHT, OPEN),
    "syntax": (RIGHT, BROKEN, BROKEN),
    "expression": (RIGHT, block("get_weather(location='Boston')"), RIGHT),
    "contract": (RIGHT, block("get_wether", city="Oslo"), RIGHT),
    "real": (RIGHT, WRONG, RIGHT),
    "silent": (RIGHT, RIGHT, "Sure!"),
    "fix": (WRONG, RIGHT, RIGHT),
    "both wrong": (WRONG, WRONG, WRONG),
    "void": (RIGHT, ErrorType.TIMEOUT, RIGHT),
    "same": (RIGHT, RIGHT, RIGHT),
}
ARMS = ("baseline", "ngram", "mtp")
SPEED = {"baseline": 1000.0, "ngram": 800.0, "mtp": 400.0}


def three_arms(said=SAID, *, ids=lambda name: f"core/{name}", **run):
    """The run as a record; `said` may be another table of the same shape."""
    attempts, samples = [], []
    for number, (name, texts) in enumerate(said.items()):
        samples.append(sample(ids(name), category="simple" if number % 2 else "nested"))
        is_cut = any(text in (OPEN, THINKING) for text in texts)
        for arm, text in zip(ARMS, texts, strict=True):
            stages = (Stage.FIRST, Stage.CONTROL) if arm == "baseline" else (Stage.FIRST,)
            for stage in stages:
                attempts.append(_first(ids(name), arm, stage, text, number))
                if is_cut:
                    later = text if name == "unresolved" else RIGHT
                    doubled = stage if stage is Stage.CONTROL else Stage.DOUBLED
                    ending = ("length", 2 * BUDGET) if later == OPEN else ("stop", 140 + number)
                    attempts.append(
                        attempt(
                            later,
                            ending[0],
                            tokens=ending[1],
                            sample_id=ids(name),
                            arm=arm,
                            stage=doubled,
                            budget=2 * BUDGET,
                        )
                    )
    attempts = [
        replace(one, request={**BODY, "max_tokens": one.max_tokens}, duration_ms=SPEED[one.arm], index=number)
        for number, one in enumerate(attempts)
    ]
    return record(samples, attempts, candidates=ARMS[1:], **{"confirm": 0, "in_turn": True, **run})


def _first(sample_id, arm, stage, text, number):
    drafts = None if arm == "baseline" else (40, 30 if arm == "mtp" else 10)
    if isinstance(text, ErrorType):
        return attempt(None, None, sample_id=sample_id, arm=arm, stage=stage, error=text)
    is_cut = text in (OPEN, THINKING)
    return attempt(
        text,
        "length" if is_cut else "stop",
        tokens=BUDGET if is_cut else 40 + number,
        sample_id=sample_id,
        arm=arm,
        stage=stage,
        drafts=drafts,
    )
