"""Categories in which what is right and what is wrong begin alike, or differ in one value."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from .draw import Draw
from .speculation_task import Material, Task, due, listed

_LOOK_ALIKES = 7
_SAMPLES_OF_A_KIND = 4


@dataclass(frozen=True, slots=True)
class _Code:
    """A kind of long value of which one character decides, and the tool that takes it."""

    tool: str
    parameter: str
    wish: str
    length: int
    alphabet: str
    is_number: bool = False


_CODES = (
    _Code("get_balance", "account_number", "Look up the balance of the account", 16, "0123456789"),
    _Code("show_commit", "commit", "Show the commit", 40, "0123456789abcdef"),
    _Code("locate_parcel", "tracking_code", "Locate the parcel", 18, "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"),
    # No zeros: as a last digit one of them would vanish.
    _Code("set_setpoint", "value", "Set the controller to the value", 8, "123456789", is_number=True),
)


def near_names(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield choices among tools whose names begin alike."""
    number = 0
    for family in material.texts["name_families"]:
        parameter = family["parameter"]
        schema = {
            "type": "object",
            "properties": {parameter: {"type": "string"}},
            "required": [parameter],
            "additionalProperties": False,
        }
        described = {family["stem"] + ending: about for ending, (about, _) in family["tools"].items()}
        for ending, (_, question) in family["tools"].items():
            number += 1
            draw = drawing(number)
            value = f"{family['prefix']}{draw.characters(5)}"
            tools = [_tool(name, described[name], schema) for name in draw.shuffled(list(described))]
            yield Task(question.format(id=value), tools, [due(family["stem"] + ending, **{parameter: value})])


def near_parameters(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield calls that set two of many parameters whose names begin alike."""
    families = material.texts["parameter_families"]
    for number in range(1, 15):
        draw = drawing(number)
        family = families[number % len(families)]
        names, values = family["parameters"], family["values"]
        schema = {
            "type": "object",
            "properties": {
                family["id"]: {"type": "string"},
                **{name: {"type": "integer" if values == "number" else "string"} for name in names},
            },
            "required": [family["id"]],
            "additionalProperties": False,
        }
        identifier = f"K-{draw.characters(4)}"
        chosen = {name: _value(values, name, material, draw) for name in draw.several(names, 2 + number % 2)}
        wishes = [f"the {name.replace('_', ' ')} to {value}" for name, value in chosen.items()]
        ask = f"For {family['id'].replace('_', ' ')} {identifier}, set {listed(wishes)}."
        tool = _tool(family["tool"], family["description"], schema)
        yield Task(ask, [tool], [due(family["tool"], **{family["id"]: identifier}, **chosen)])


def one_digit_apart(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield values that stand among others which differ in a single character."""
    for number in range(len(_CODES) * _SAMPLES_OF_A_KIND):
        draw, kind = drawing(number + 1), _CODES[number // _SAMPLES_OF_A_KIND]
        codes = _one_apart(draw.characters(kind.length, kind.alphabet), kind.alphabet, draw)
        if kind.is_number:
            codes = [f"{code[0]}.{code[1:]}" for code in codes]
        people = draw.several(material.texts["people"], len(codes))
        chosen = draw.between(1, len(codes) - 1)
        right = float(codes[chosen]) if kind.is_number else codes[chosen]
        rows = "\n".join(f"{person}: {code}" for person, code in zip(people, codes, strict=True))
        ask = f"{rows}\n\n{kind.wish} of {people[chosen]}, and nobody else's."
        yield Task(ask, material.tools(kind.tool), [due(kind.tool, **{kind.parameter: right})])


def repeated_calls(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield rows of calls that are alike but for one value, with gaps where a draft would count on."""
    for number in range(1, 15):
        draw = drawing(number)
        numbers = _with_gaps(draw, 3 + number // 2)
        words = [str(one) for one in numbers]
        city = draw.pick(material.texts["cities"])
        match number % 3:
            case 0:
                bar = draw.between(11, 59) / 10
                ask = f"Station {city}: set the valves {listed(words)} to {bar} bar each, in slow mode."
                tool = "set_valve_pressure"
                calls = [due(tool, station=city, valve=one, bar=bar, mode="slow") for one in numbers]
            case 1:
                floor, until = draw.between(1, 9), f"2027-0{draw.between(1, 9)}-1{draw.below(10)}"
                ask = (
                    f"Building {city}, floor {floor}: make a key for each of the lockers {listed(words)}, "
                    f"valid until {until}."
                )
                tool = "create_locker_key"
                calls = [
                    due(tool, building=city, floor=floor, locker=one, valid_until=until) for one in numbers
                ]
            case _:
                stem = f"{draw.characters(4, 'ABCDEFGHKLMN')}{draw.characters(5)}"
                other = draw.pick([one for one in material.texts["cities"] if one != city])
                names = [f"{stem}{one:02}" for one in numbers]
                ask = f"These containers go from yard {city} to yard {other}: {listed(names)}."
                tool = "move_container"
                calls = [due(tool, container=name, from_yard=city, to_yard=other) for name in names]
        yield Task(ask, material.tools(tool), calls)


def quiet_after_calls(material: Material, drawing: Callable[[int], Draw]) -> Iterator[Task]:
    """Yield turns after which no call is due, behind many calls that a draft would go on with."""
    for number, ask in enumerate(material.texts["closers"], 1):
        draw = drawing(number)
        city, bar = draw.pick(material.texts["cities"]), draw.between(11, 59) / 10
        history: list[dict[str, Any]] = []
        for valve in range(1, 5):
            arguments = {"station": city, "valve": valve, "bar": bar, "mode": "fast"}
            history += [
                {"ask": f"Valve {valve} at {city}: {bar} bar, fast."},
                {"calls": [["set_valve_pressure", arguments]], "results": [{"status": "ok"}]},
                {"reply": f"Valve {valve} is set."},
            ]
        yield Task(ask, material.tools("set_valve_pressure"), [], [*history])


def _tool(name: str, description: str, parameters: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {"name": name, "description": description, "parameters": parameters},
    }


def _value(kind: str, parameter: str, material: Material, draw: Draw) -> str | int:
    """Return a value that makes sense for a parameter: no minimum above a maximum, no evening at noon."""
    match kind:
        case "number":
            return draw.between(11, 99) if parameter.startswith("min") else draw.between(110, 990)
        case "time":
            hour = draw.between(5, 9) if parameter.startswith("morning") else draw.between(17, 21)
            return f"{hour:02}:{draw.between(10, 59)}"
        case _:
            return draw.pick(material.texts["words"])


def _one_apart(first: str, alphabet: str, draw: Draw) -> list[str]:
    """Return a code and others that differ from it in one character each, never the first character."""
    codes = [first]
    for place in draw.several(range(1, len(first)), _LOOK_ALIKES):
        other = draw.pick([one for one in alphabet if one != first[place]])
        codes.append(f"{first[:place]}{other}{first[place + 1 :]}")
    return codes


def _with_gaps(draw: Draw, count: int) -> list[int]:
    """Return ascending numbers that mostly count by one."""
    numbers = [draw.between(2, 20)]
    while len(numbers) < count:
        numbers.append(numbers[-1] + draw.pick([1, 1, 1, 2, 7]))
    return numbers
