"""What a user sees while a run asks: counts that add up, per arm, at a bearable pace."""

import io

import pytest
from draftproof.evals.attempt import Ask, ErrorType, Stage
from draftproof.evals.plan import Mode
from draftproof.reports import progress as progress_module
from draftproof.reports.progress import (
    LiveProgress,
    PlainProgress,
    SilentProgress,
    count_asks,
    open_progress,
    stage_name,
)

from ..evals.build import OPEN, attempt


@pytest.fixture
def clock(monkeypatch):
    """A clock that a test moves; in seconds."""

    class Clock:
        now = 1000.0

    monkeypatch.setattr(progress_module.time, "monotonic", lambda: Clock.now)
    return Clock


def asks(stage=Stage.FIRST, arms=("baseline", "mtp"), count=4):
    return [
        Ask(f"s{number}", arm, Mode.PROMPTED, False, stage, 100) for arm in arms for number in range(count)
    ]


def lines(stream):
    return stream.getvalue().splitlines()


def test_a_round_is_announced_with_its_totals():
    """Per arm, in the order of asking."""
    stream = io.StringIO()
    with PlainProgress(stream) as progress:
        progress.round_started(asks())
    assert lines(stream) == ["first: asking baseline 4, mtp 4"]


def test_plain_lines_come_every_ten_seconds_and_at_the_end(clock):
    """A log of CI stays short, and the last line of an arm says how it ended."""
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.round_started(asks(count=3))
    for seconds in (1, 8, 8):
        clock.now += seconds
        progress.attempt_done(attempt())
    assert lines(stream)[1:] == ["first: baseline  3/3  0.2/s"]
    clock.now += 11
    progress.attempt_done(attempt(arm="mtp"))
    assert lines(stream)[2:] == ["first: mtp  1/3  1.0/s  2 s left"]


def test_cut_and_failed_are_counted(clock):
    """They are what a user wants to see early."""
    stream = io.StringIO()
    progress = PlainProgress(stream)
    progress.round_started(asks(arms=("mtp",), count=3))
    clock.now += 2
    for one in (
        attempt(OPEN, "length", arm="mtp"),
        attempt(arm="mtp", error=ErrorType.TIMEOUT),
        attempt(arm="mtp"),
    ):
        progress.attempt_done(one)
    assert lines(stream)[-1].endswith("cut 1  failed 1")


def test_an_arm_that_waits_for_its_turn_has_not_begun(clock):
    """In turn, the second arm's pace counts from its own first request."""
    counts = count_asks(asks())
    clock.now += 3600
    progress_module.count_attempt(counts["mtp"], attempt(arm="mtp"))
    assert counts["mtp"].started > clock.now - 10


@pytest.mark.parametrize(
    ("stages", "name"),
    [
        ((Stage.FIRST, Stage.CONTROL), "first"),
        ((Stage.CONTROL,), "control"),
        ((Stage.CONTROL, Stage.DOUBLED), "doubled"),
        ((Stage.CONFIRM,), "confirm"),
    ],
)
def test_a_round_is_named_after_what_it_is_for(stages, name):
    """The control goes along with the others."""
    assert stage_name([ask for stage in stages for ask in asks(stage)]) == name


def test_live_bars_follow_several_rounds(monkeypatch):
    """A bar per arm and round; nothing is left of a terminal's state afterwards."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    with LiveProgress() as progress:
        for stage in (Stage.FIRST, Stage.DOUBLED):
            progress.round_started(asks(stage, count=1))
            for arm in ("baseline", "mtp"):
                progress.attempt_done(attempt(arm=arm, stage=stage))
    assert "1/1" in stream.getvalue()


def test_the_display_suits_standard_error(monkeypatch):
    """Quiet shows nothing, a terminal has bars, a file gets lines."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    assert isinstance(open_progress(), PlainProgress)
    monkeypatch.setattr(stream, "isatty", lambda: True, raising=False)
    assert isinstance(open_progress(), LiveProgress)
    with open_progress(quiet=True) as progress:
        assert isinstance(progress, SilentProgress)
        progress.round_started(asks())
        progress.attempt_done(attempt())
    assert stream.getvalue() == ""
