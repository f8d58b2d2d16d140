"""The category in which a call comes after a long text of the model's own: small puzzles, solved here."""

from collections.abc import Callable, Iterator
from itertools import pairwise

from .draw import Draw
from .speculation_task import Material, Task, due, listed

_OF_EACH_KIND = 4
_STEPS = "Think step by step and write every step down first; then make the call."


def calls_after_reasoning(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield puzzles whose answer goes into a call: stock, prices, times, an order."""
    for number in range(4 * _OF_EACH_KIND):
        puzzle = (_stock, _cheapest, _meetings, _line_up)[number % 4]
        yield puzzle(material, drawing(number + 1))


def _stock(material: Material, draw: Draw) -> Task:
    sku = f"{draw.pick(material.texts['words']).upper()}-{draw.characters(2)}"
    stock = draw.between(200, 400)
    days = [f"There were {stock} pieces of {sku} on Monday morning."]
    for day in ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday"):
        sold, delivered = draw.between(11, 39), draw.between(5, 25)
        stock += delivered - sold
        days.append(f"On {day} {sold} were sold and {delivered} were delivered.")
    ask = f"{' '.join(days)} Set the stock to what is left after Friday. {_STEPS}"
    return Task(ask, material.tools("set_stock"), [due("set_stock", sku=sku, quantity=stock)])


def _cheapest(material: Material, draw: Draw) -> Task:
    quantity = draw.between(12, 48)
    suppliers = draw.several(material.texts["people"], 4)
    totals: dict[str, int] = {}
    offers: list[str] = []
    for supplier in suppliers:
        piece, shipping = draw.between(150, 190), draw.between(300, 1900)
        while quantity * piece + shipping in totals.values():
            shipping += 1
        totals[supplier] = quantity * piece + shipping
        offers.append(f"{supplier} takes {piece} cents a piece and {shipping} cents for shipping.")
    best = min(totals, key=totals.__getitem__)
    ask = f"I need {quantity} pieces. {' '.join(offers)} Order from whoever is cheapest in all. {_STEPS}"
    call = due("place_bulk_order", supplier=best, quantity=quantity, total_cents=totals[best])
    return Task(ask, material.tools("place_bulk_order"), [call])


def _meetings(material: Material, draw: Draw) -> Task:
    minute = 9 * 60 + 5 * draw.between(0, 5)
    sentences = [f"We begin at {_clock(minute)}."]
    for person in draw.several(material.texts["people"], 4):
        talk, pause = 5 * draw.between(3, 9), 5 * draw.between(1, 3)
        minute += talk + pause
        sentences.append(f"{person} talks for {talk} minutes, then there is a break of {pause} minutes.")
    length = 5 * draw.between(5, 11)
    room = f"R{draw.characters(3)}"
    ask = (
        f"{' '.join(sentences)} After the last break we need the room {room} for {length} minutes: "
        f"book it for exactly that time. {_STEPS}"
    )
    call = due("book_room", room=room, start=_clock(minute), end=_clock(minute + length))
    return Task(ask, material.tools("book_room"), [call])


def _line_up(material: Material, draw: Draw) -> Task:
    names = draw.several(material.texts["people"], 6)
    clues = [f"{tall} is taller than {short}." for tall, short in pairwise(names)]
    alphabetical = listed(sorted(names))
    ask = (
        f"{alphabetical} want to stand in a line. {' '.join(draw.shuffled(clues))} "
        f"Set the line-up from the tallest to the shortest. {_STEPS}"
    )
    return Task(ask, material.tools("set_line_up"), [due("set_line_up", names=names)])


def _clock(minutes: int) -> str:
    return f"{minutes // 60:02}:{minutes % 60:02}"
