"""`draftproof probe`: what endpoints showed, a column each, for people or as JSON."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from ..evals.probing.check import Check, Verdict
from ..evals.probing.checkpoint import Checkpoint
from ..evals.probing.probe import NAMES, Probe
from .visible import shortened, visible_line

WIDTH = 110
DIFFERS = "≠"
ABSENT = "–"

# What a verdict means, and what to do, in a line; by the name of the check.
_ADVICE: dict[tuple[str, Verdict], str] = {
    ("model", Verdict.WRONG): "most servers refuse a name that they do not list: give --model one of theirs",
    ("lossy settings", Verdict.WRONG): "speculation may change answers on purpose here: compare with care",
    (
        "speculating",
        Verdict.UNKNOWN,
    ): "say it in the plan (`speculating = true`), or start the server with metrics",
    ("speculating", Verdict.WRONG): "do not use it as a baseline: it drafts",
    (
        "temperature 0",
        Verdict.WRONG,
    ): "the baseline changes by itself: keep `control = true`, ask more samples",
    ("finish_reason", Verdict.WRONG): "cut answers look whole: raise max_tokens until nothing nears it",
    ("finish_reason, streamed", Verdict.WRONG): "cut streams look whole: raise max_tokens, or do not stream",
    ("usage", Verdict.WRONG): "tokens are not counted: cuts show by finish_reason alone",
    ("usage, streamed", Verdict.WRONG): "tokens are not counted: cuts show by finish_reason alone",
    ("streaming", Verdict.IGNORED): "`stream = true` measures nothing here",
    ("streaming", Verdict.WRONG): 'streams and whole answers differ: run with `stream = "both"`',
    ("seed", Verdict.IGNORED): "runs at temperature > 0 do not repeat: use temperature 0, or more samples",
    ("logprobs", Verdict.WRONG): "do not reason from logprobs here",
    ("stop", Verdict.IGNORED): "cut at the stop string yourself",
    ("stop", Verdict.WRONG): "drafted text can follow the stop string: cut it yourself",
    ("logit_bias", Verdict.WRONG): "drafted tokens escape the bias: leave it out, or turn speculation off",
    (
        "tools",
        Verdict.REFUSED,
    ): "start vLLM with --enable-auto-tool-choice --tool-call-parser, or use mode prompted",
    ("tools in the prompt", Verdict.IGNORED): "the chat template leaves tools out: use mode prompted",
    (
        "forced call",
        Verdict.WRONG,
    ): "nothing holds the model to the call, or the parser does not fit it (vLLM: --tool-call-parser)",
    ("MTP layers", Verdict.WRONG): "fetch a checkpoint with these layers, or turn MTP off",
    ("MTP layers", Verdict.IGNORED): "servers look at config.json: without the declaration MTP cannot start",
}
_PARAMETER_ADVICE = {
    Verdict.IGNORED: "accepted without effect: clients that send it get something else than they ask for",
    Verdict.REFUSED: "clients that send it get an error",
}
_DIFFERENT: dict[str, str] = {
    "server": "another engine or version: a difference may be its, not speculation's",
    "model": "two models: a difference says nothing about speculation",
    "context": "one of them cuts earlier: start both with one context length",
    "KV cache": "more or less memory for the cache: batches and preemptions may differ",
    "speculating": "as it should be for a baseline and a candidate",
    "streaming": "tokens of an accepted draft come in one chunk: never count chunks",
    "temperature 0": "the noise is not the same on both sides",
    "prompt with tools": "the model is asked two things: use one chat template",
    "greedy answer": "speculation, or something beside it, changes answers at temperature 0",
}


@dataclass(frozen=True, slots=True)
class _Row:
    """One check in every column; `advice` says what to do about it."""

    name: str
    cells: tuple[Check | None, ...]
    differs: bool
    advice: str | None


def render_probe(probes: Sequence[Probe], checkpoint: Checkpoint | None, *, width: int = WIDTH) -> str:
    """Return the report for people: a column per endpoint, rows that differ marked, advice below."""
    blocks: list[str] = []
    if probes:
        heads = [
            f"{name}  {probe.url}  ({probe.model}; {probe.requests} requests)"
            for name, probe in zip(NAMES, probes, strict=False)
        ]
        blocks.append("\n".join(heads))
        blocks.append(_table(_rows(probes), len(probes), width))
        if configuration := _configuration(probes):
            blocks.append(configuration)
    if checkpoint is not None:
        blocks.append(_checkpoint(checkpoint))
    if advice := _advice(probes, checkpoint):
        blocks.append("\n".join(["what it means", *advice]))
    return visible_text("\n\n".join(blocks)) + "\n"


def probe_json(probes: Sequence[Probe], checkpoint: Checkpoint | None) -> str:
    """Return the same for machines."""
    endpoints = [
        {
            "name": name,
            "url": probe.url,
            "model": probe.model,
            "kind": probe.facts.kind.value,
            "version": probe.facts.version,
            "models": list(probe.facts.models),
            "context": probe.facts.context,
            "kv_tokens": probe.facts.kv_tokens,
            "speculating": probe.facts.speculating.value,
            "lossy": list(probe.facts.lossy),
            "configuration": probe.configuration,
            "requests": probe.requests,
            "checks": [_check_json(check) for check in probe.checks],
        }
        for name, probe in zip(NAMES, probes, strict=False)
    ]
    shown: dict[str, object] = {"format": 1, "endpoints": endpoints}
    if len(probes) > 1:
        shown["differing"] = [row.name for row in _rows(probes) if row.differs]
        shown["differing_configuration"] = _differing_settings(probes)
    if checkpoint is not None:
        shown["checkpoint"] = {
            "path": str(checkpoint.path),
            "layers": checkpoint.layers,
            "declared_mtp_layers": checkpoint.declared,
            "mtp_tensors": checkpoint.tensors,
            **_check_json(checkpoint.check()),
        }
    return json.dumps(shown, ensure_ascii=False, indent=2) + "\n"


def _check_json(check: Check) -> dict[str, str]:
    return {"name": check.name, "verdict": check.verdict.value, "detail": check.detail}


def _rows(probes: Sequence[Probe]) -> list[_Row]:
    names = list(dict.fromkeys(check.name for probe in probes for check in probe.checks))
    columns = [{check.name: check for check in probe.checks} for probe in probes]
    rows: list[_Row] = []
    for name in names:
        cells = tuple(column.get(name) for column in columns)
        differs = len(set(cells)) > 1 and not (name == "prompt with tools" and _cannot_compare(probes))
        rows.append(_Row(name, cells, differs, _row_advice(name, cells, differs=differs)))
    return rows


def _cannot_compare(probes: Sequence[Probe]) -> bool:
    """One server shows token ids, the other text: neither equal nor different."""
    return len({probe.prompt.unit if probe.prompt else None for probe in probes}) > 1


def _row_advice(name: str, cells: Sequence[Check | None], *, differs: bool) -> str | None:
    if differs and name in _DIFFERENT:
        return _DIFFERENT[name]
    for check in cells:
        if check is None:
            continue
        if (advice := _ADVICE.get((name, check.verdict))) is not None:
            return advice
        if check.verdict in _PARAMETER_ADVICE:
            leave = "; leave it out of a comparison of these two" if differs else ""
            return _PARAMETER_ADVICE[check.verdict] + leave
    return None


def _table(rows: Sequence[_Row], columns: int, width: int) -> str:
    first = max(len(row.name) for row in rows)
    room = max(20, (width - first - 2 - 3 * columns) // columns)
    lines: list[str] = []
    if columns > 1:
        heads = "   ".join(name.ljust(room) for name in NAMES[:columns])
        lines += [f"  {'':{first}}   {heads}".rstrip(), "  " + "─" * (first + columns * (room + 3))]
    for row in rows:
        mark = DIFFERS if row.differs else " "
        wrapped = [_wrap(_cell(check), room) for check in row.cells]
        for n in range(max(len(lines_of) for lines_of in wrapped)):
            cells = "   ".join((lines_of[n] if n < len(lines_of) else "").ljust(room) for lines_of in wrapped)
            head = f"{mark} {row.name:{first}}" if n == 0 else f"  {'':{first}}"
            lines.append(f"{head}   {cells}".rstrip())
    return "\n".join(lines)


def _cell(check: Check | None) -> str:
    return ABSENT if check is None else f"{check.verdict.value}: {visible_line(shortened(check.detail, 300))}"


def _wrap(text: str, width: int) -> list[str]:
    import textwrap

    return textwrap.wrap(text, width, subsequent_indent="  ") or [""]


def _configuration(probes: Sequence[Probe]) -> str:
    """What differs, for two; all of it for one."""
    if len(probes) == 1:
        settings = probes[0].configuration
        return "configuration\n" + _settings(settings) if settings else ""
    differing = _differing_settings(probes)
    same = len({name for probe in probes for name in probe.configuration}) - len(differing)
    if not differing:
        return f"configuration: {same} settings told, none differs" if same else ""
    lines = [
        f"{DIFFERS} {name}: " + ", ".join(f"{who} {value or ABSENT}" for who, value in values.items())
        for name, values in differing.items()
    ]
    return "\n".join([f"configuration ({same} settings are the same)", *lines])


def _settings(settings: dict[str, str]) -> str:
    return "\n".join(f"  {name}: {visible_line(value)}" for name, value in settings.items())


def _differing_settings(probes: Sequence[Probe]) -> dict[str, dict[str, str | None]]:
    names = dict.fromkeys(name for probe in probes for name in probe.configuration)
    values = {
        name: {who: probe.configuration.get(name) for who, probe in zip(NAMES, probes, strict=False)}
        for name in names
    }
    return {name: by_arm for name, by_arm in values.items() if len(set(by_arm.values())) > 1}


def _checkpoint(checkpoint: Checkpoint) -> str:
    check = checkpoint.check()
    return f"checkpoint  {checkpoint.path}\n  {check.name}   {_cell(check)}"


def _advice(probes: Sequence[Probe], checkpoint: Checkpoint | None) -> list[str]:
    rows = _rows(probes)
    lines = [f"• {row.name}: {row.advice}" for row in rows if row.advice is not None]
    if checkpoint is not None:
        check = checkpoint.check()
        if (advice := _ADVICE.get((check.name, check.verdict))) is not None:
            lines.append(f"• {check.name}: {advice}")
    return lines


def visible_text(text: str) -> str:
    """Every hidden character of a server's words made visible, line by line."""
    return "\n".join(visible_line(line) for line in text.split("\n"))
