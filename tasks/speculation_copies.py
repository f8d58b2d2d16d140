"""Categories whose answer copies a long span of the prompt, and must leave it, escape it or end in time."""

import json
import re
from collections.abc import Callable, Iterator
from typing import Any

from .draw import Draw
from .speculation_task import Material, Task, due

_CAPS = (60, 120, 250, 500, 1000)
_SHARES_OF_CAP = (85, 95, 105, 120)
_CALL_MARKUP_TOKENS = 8
_TOKEN = re.compile(r"[A-Za-z]{1,7}|[0-9]|[^\sA-Za-z0-9]")


def late_changes(material: Material, _: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield copies of prose of which the last sentence differs in one word, or is left out."""
    for number, passage in enumerate(material.texts["passages"], 1):
        text, old, new = passage["text"], passage["old"], passage["new"]
        begin, _, last = text.rpartition(". ")
        title = f"Text {number}"
        lead = f'Save a note titled "{title}" with the text below'
        changed = re.sub(rf"\b{old}\b", new, last)
        ask = f'{lead}. Change one word: in the last sentence write "{new}" instead of "{old}".\n\n{text}'
        yield Task(
            ask, material.tools("save_note"), [due("save_note", title=title, text=f"{begin}. {changed}")]
        )
        ask = f"{lead}, but leave out its last sentence.\n\n{text}"
        yield Task(ask, material.tools("save_note"), [due("save_note", title=title, text=f"{begin}.")])


def escaped_copies(material: Material, _: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield copies of text full of what JSON must escape: a draft from the prompt lacks the backslashes."""
    for number, text in enumerate(material.texts["escapes"], 1):
        title = f"Escapes {number}"
        ask = (
            f'Save a note titled "{title}". Its text is everything after the empty line, as it is.\n\n{text}'
        )
        right = {"title": [title], "text": [text, f"{text}\n"] if "\n" in text else [text]}
        yield Task(ask, material.tools("save_note"), [["save_note", right]])


def edited_code(material: Material, _: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield copies of code in which one name is another, at every place where it stands."""
    for code in material.texts["code"]:
        text, language = code["text"], code["language"]
        for old, new in zip(code["old"], code["new"], strict=True):
            changed = re.sub(rf"\b{old}\b", new, text)
            ask = (
                f"Save this code as {language}, with one change: the name `{old}` becomes `{new}` "
                f"wherever it stands as a whole word. Nothing else changes.\n\n{text}"
            )
            right = {"language": [language], "source": [changed, f"{changed}\n"]}
            yield Task(ask, material.tools("save_code"), [["save_code", right]])


def cap_lengths(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield copies whose answer is a little shorter or longer than a usual `max_tokens`."""
    number = 0
    for cap in _CAPS:
        for share in _SHARES_OF_CAP:
            number += 1
            text = _inventory(material, drawing(number), cap * share // 100)
            ask = f'Save a note titled "Inventory" with exactly this text:\n\n{text}'
            call = due("save_note", title="Inventory", text=text)
            yield Task(ask, material.tools("save_note"), [call], label=f"{cap:04}-{share:03}")


def seen_json(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield calls whose JSON stands in the conversation already, with other values."""
    for number in range(1, 8):
        yield _next_shipment(material, drawing(number))
    for number in range(8, 15):
        yield _changed_record(material, drawing(number))


def estimated_tokens(text: str) -> int:
    """Estimate how many tokens a text has: a word is one for each seven letters begun, so is every digit."""
    return len(_TOKEN.findall(text))


def _inventory(material: Material, draw: Draw, tokens: int) -> str:
    """Return a text with which the whole answer has about this many tokens."""
    words = material.texts["words"]
    empty = json.dumps({"name": "save_note", "arguments": {"title": "Inventory", "text": ""}})
    left = tokens - _CALL_MARKUP_TOKENS - estimated_tokens(empty)
    sentences: list[str] = []
    while True:
        first, second = draw.several(words, 2)
        sentence = draw.pick(
            [
                f"Shelf {draw.between(1, 40)} holds a {first} and a {second}.",
                f"Behind the {first} there are {draw.between(2, 9)} boxes for a {second}.",
                f"The {first} is older than the {second}.",
                f"Nobody has counted the {first} since the {second} was moved.",
            ]
        )
        length = estimated_tokens(sentence)
        if sentences and length > 2 * left:
            return " ".join(sentences)
        sentences.append(sentence)
        left -= length


def _next_shipment(material: Material, draw: Draw) -> Task:
    people, cities = material.texts["people"], material.texts["cities"]
    sender = {"name": f"{draw.pick(people)} Trading", "city": draw.pick(cities)}
    reference = draw.between(4000, 8000)
    shipments: list[dict[str, Any]] = [
        {
            "reference": f"REF-{reference + step}",
            "sender": sender,
            "recipient": {
                "name": name,
                "street": f"Mill Lane {draw.between(1, 99)}",
                "postal_code": draw.characters(5),
                "city": city,
            },
            "parcels": [
                {
                    "weight_kg": draw.between(5, 95) / 10,
                    "length_cm": draw.between(20, 60),
                    "width_cm": draw.between(10, 40),
                    "height_cm": draw.between(5, 30),
                }
            ],
            "service": "standard",
        }
        for step, (name, city) in enumerate(
            zip(draw.several(people, 3), draw.several(cities, 3), strict=True)
        )
    ]
    asks = [_shipment_in_words(shipment) for shipment in shipments]
    history: list[dict[str, Any]] = []
    for ask, shipment in zip(asks[:-1], shipments[:-1], strict=True):
        history += [
            {"ask": ask},
            {"calls": [["create_shipment", shipment]], "results": [{"status": "announced"}]},
            {"reply": f"{shipment['reference']} is announced."},
        ]
    call = due("create_shipment", **shipments[-1])
    return Task(asks[-1], material.tools("create_shipment"), [call], [*history])


def _shipment_in_words(shipment: dict[str, Any]) -> str:
    sender, to, parcel = shipment["sender"], shipment["recipient"], shipment["parcels"][0]
    size = f"{parcel['length_cm']} by {parcel['width_cm']} by {parcel['height_cm']} cm"
    return (
        f"Shipment {shipment['reference']}, standard, from {sender['name']} in {sender['city']} "
        f"to {to['name']}, {to['street']}, {to['postal_code']} {to['city']}: "
        f"one parcel of {parcel['weight_kg']} kg, {size} (length, width, height)."
    )


def _changed_record(material: Material, draw: Draw) -> Task:
    daily = draw.between(10, 90)
    record: dict[str, Any] = {
        "id": f"rec-{draw.characters(6)}",
        "name": f"{draw.pick(material.texts['people'])} {draw.pick(material.texts['words']).title()}",
        "city": draw.pick(material.texts["cities"]),
        "status": draw.pick(["active", "paused"]),
        "limits": {"daily": daily, "weekly": daily * 5, "monthly": daily * 20},
        "tags": draw.several(material.texts["words"], 4),
        "ratio": draw.between(101, 899) / 1000,
        "revision": draw.between(3, 40),
    }
    changed = {**record, "limits": {**record["limits"], "monthly": daily * 20 + 1}}
    changed["revision"] = record["revision"] + 1
    ask = (
        f"This is a record of the collection stations:\n\n{json.dumps(record)}\n\n"
        f"Store it again with a monthly limit of {changed['limits']['monthly']} and revision "
        f"{changed['revision']}; everything else stays as it is."
    )
    return Task(ask, material.tools("put_record"), [due("put_record", collection="stations", record=changed)])
