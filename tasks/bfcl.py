"""BFCL as a suite: the single-turn categories of the Berkeley Function-Calling Leaderboard, as published."""

from collections.abc import Iterator
from pathlib import Path

from ..errors import UserError
from .bfcl_entry import EntryError, Truth, read_entry, read_truth
from .bfcl_files import BfclFiles, find_files, read_entries
from .bfcl_spec import ALL, SINGLE_TURN, BfclSpec, parse_bfcl_spec
from .bfcl_terms import BfclRule, rule_of_category
from .excluded import Excluded
from .sample import Sample
from .values import shown


def read_bfcl(spec: str) -> Iterator[tuple[str, Sample | Excluded]]:
    """Read the entries that a spec names (see `tasks.bfcl_spec`), in the order of the files.

    Yields:
        Each with its place in words: a sample, or an entry that is left out, with the reason.

    Raises:
        UserError: The spec or a file is wrong, or the benchmark's files cannot be had.
    """
    wanted = parse_bfcl_spec(spec)
    files = find_files(wanted.folder)
    there = [one for one in SINGLE_TURN if one in files.versions]
    categories = there if wanted.category == ALL else [wanted.category]
    for category in categories:
        if category not in there:
            raise UserError(
                f"tasks: {shown(spec)}: {files.folder} has no file of this category",
                tip=f"there are {', '.join([*there, ALL])}",
            )
        yield from _read_category(files, category, wanted)


def _read_category(
    files: BfclFiles, category: str, spec: BfclSpec
) -> Iterator[tuple[str, Sample | Excluded]]:
    rule = rule_of_category(category)
    path, answers = files.questions(category), files.answers(category)
    truths = None if rule in {BfclRule.IRRELEVANCE, BfclRule.RELEVANCE} else _read_truths(answers)
    for number, raw in read_entries(path):
        place = f"{path}:{number}"
        truth = None
        if truths is not None:
            truth = truths.get(str(raw.get("id")))
            if truth is None:
                raise UserError(f"{place}: id: {shown(raw.get('id'))} has no ground truth in {answers}")
        try:
            yield place, read_entry(raw, truth, category, spec, files.layout(category))
        except EntryError as error:
            raise UserError(f"{place}: {error}") from None


def _read_truths(path: Path) -> dict[str, Truth]:
    truths: dict[str, Truth] = {}
    for number, raw in read_entries(path):
        try:
            truth = read_truth(raw)
        except EntryError as error:
            raise UserError(f"{path}:{number}: {error}") from None
        truths[truth.id] = truth
    return truths
