"""Conditions that a plan names several of: each is a run of its own, judged apart, in one folder.

    concurrency = [1, 16]    some faults show only in a batch
    isolate = "both"         and some only where a prefix cache is shared

A run's folder is named after what varies: `concurrency-16`, `isolated`, `concurrency-16-isolated`.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import product
from pathlib import Path
from typing import cast

from ..errors import UserError

_FOLDER = re.compile(r"(?:concurrency-(\d+))?(?:(?:^|-)(shared|isolated))?")


def conditions_of(run: Mapping[str, object], *, source: str) -> list[dict[str, object]]:
    """The `[run]` table once for each condition; one that names a single one comes back as it is.

    Raises:
        UserError: The list of loads is empty, or names one twice.
    """
    varied: dict[str, Sequence[object]] = {}
    if isinstance(run.get("concurrency"), list):
        loads = cast("list[object]", run["concurrency"])
        if not loads or any(loads.count(load) > 1 for load in loads):
            raise UserError(f"{source}: run.concurrency: expected a number, or a list of different ones")
        varied["concurrency"] = loads
    if run.get("isolate") == "both":
        varied["isolate"] = (False, True)
    return [{**run, **dict(zip(varied, values, strict=True))} for values in product(*varied.values())]


def folder_names(conditions: Sequence[tuple[int, bool]]) -> list[str]:
    """What the runs are called in their folder.

    Args:
        conditions: Of each run the requests in flight, and whether the prefix cache is kept out.
    """
    loads, isolations = ({one[n] for one in conditions} for n in (0, 1))
    return [
        "-".join(
            [f"concurrency-{load}"] * (len(loads) > 1)
            + ["isolated" if is_isolated else "shared"] * (len(isolations) > 1)
        )
        for load, is_isolated in conditions
    ]


def runs_in(directory: Path) -> list[Path]:
    """The runs to judge: the directory itself, or those of several conditions in it, the smallest first."""
    if (directory / "run.json").exists():
        return [directory]
    found = [
        (int(match[1] or 0), match[2] or "", path)
        for path in directory.glob("*")
        if (match := _FOLDER.fullmatch(path.name)) and (path / "run.json").exists()
    ]
    return [path for *_, path in sorted(found, key=lambda one: (one[0], one[1] == "isolated"))] or [directory]
