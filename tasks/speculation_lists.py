"""Categories whose answer follows a list of the prompt, and must stop inside it or take another order."""

from collections.abc import Callable, Iterator

from .draw import Draw
from .speculation_task import Material, Task, due

_LISTS = 14
_SHORTEST = 10
_ORDERS = 12


def lists_that_stop(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield lists of which only a part is wanted: the draft goes on where the answer has to stop."""
    for number in range(1, _LISTS + 1):
        draw = drawing(number)
        words = draw.several(material.texts["words"], _SHORTEST + 2 * number)
        stop = draw.between(len(words) // 2, len(words) - 3)
        start = draw.between(2, 4)
        part, wanted = [
            (f"the first {stop} entries", words[:stop]),
            (f"the entries up to and including {words[stop - 1]}", words[:stop]),
            (f"the entries from {words[start]} to {words[stop - 1]}, both included", words[start:stop]),
        ][number % 3]
        title = f"List {number}"
        ask = (
            f'Make a checklist "{title}" of {part}, and of no others, in the order of this list:\n\n'
            f"{_one_a_line(words)}"
        )
        yield Task(
            ask, material.tools("create_checklist"), [due("create_checklist", title=title, items=wanted)]
        )


def reordered_lists(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield lists that are wanted in another order: after each entry the draft knows the wrong one."""
    for number in range(1, _ORDERS + 1):
        draw = drawing(number)
        names = draw.several(material.texts["words"], 6 + number // 2)
        ages = draw.several(range(10, 99), len(names))
        shown = [f"{name} ({age} days)" for name, age in zip(names, ages, strict=True)]
        order, wanted = [
            ("in reverse", names[::-1]),
            ("in alphabetical order", sorted(names)),
            ("with the most days first", [name for _, name in sorted(zip(ages, names, strict=True))][::-1]),
        ][number % 3]
        queue = f"q{number}"
        ask = (
            f"Put all entries of the queue {queue} {order}; pass their names without the days."
            f"\n\n{_one_a_line(shown)}"
        )
        yield Task(ask, material.tools("set_queue"), [due("set_queue", queue=queue, entries=wanted)])


def _one_a_line(words: list[str]) -> str:
    return "\n".join(f"- {word}" for word in words)
