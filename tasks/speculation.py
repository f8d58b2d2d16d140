"""`builtin:speculation`: samples in which a draft is easily right for a long while and then wrong.

What a category stresses is said in `suites/README.md`. Everything is drawn from a seed: the same seed gives
the same bytes, on every version of Python and every machine.
"""

from collections.abc import Callable, Iterator
from importlib.resources.abc import Traversable
from typing import TypeAlias

from .compact import RawSample, expand, opening_turns, read_json, read_pool
from .draw import Draw
from .speculation_choices import (
    near_names,
    near_parameters,
    one_digit_apart,
    quiet_after_calls,
    repeated_calls,
)
from .speculation_copies import cap_lengths, edited_code, escaped_copies, late_changes, seen_json
from .speculation_lists import lists_that_stop, reordered_lists
from .speculation_reasoning import calls_after_reasoning
from .speculation_task import Material, Task

_Category: TypeAlias = Callable[[Material, Callable[[int], Draw]], Iterator[Task]]

_CATEGORIES: dict[str, _Category] = {
    "after_reasoning": calls_after_reasoning,
    "cap_lengths": cap_lengths,
    "edited_code": edited_code,
    "escaped_copy": escaped_copies,
    "late_change": late_changes,
    "lists_that_stop": lists_that_stop,
    "near_names": near_names,
    "near_parameters": near_parameters,
    "one_digit_apart": one_digit_apart,
    "quiet_after_calls": quiet_after_calls,
    "reordered_list": reordered_lists,
    "repeated_calls": repeated_calls,
    "seen_json": seen_json,
}


def speculation_samples(folder: Traversable, seed: int = 1) -> list[RawSample]:
    """Return the samples of the suite.

    Args:
        folder: Where its texts and its tools lie.
        seed: Decides every name and number that is not fixed by the texts.

    Returns:
        New objects, one a sample, in the order of the categories.
    """
    material = Material(read_json(folder, "texts.json"), read_pool(folder))
    samples: list[RawSample] = []
    for category, tasks in _CATEGORIES.items():

        def drawing(number: int, category: str = category) -> Draw:
            # A stream for each sample, so that a new one changes none of the others.
            return Draw(seed, f"{category}-{number}")

        for number, task in enumerate(tasks(material, drawing), 1):
            sample_id = f"speculation/{category}-{task.label or format(number, '02')}"
            turns = opening_turns({"history": task.history, "ask": task.ask})
            samples.append(expand(sample_id, category, turns, task.tools, task.calls))
    return samples
