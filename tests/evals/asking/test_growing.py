"""The record of a session: what it grew by is what reading its journal again would find, without requests."""

from dataclasses import replace

from draftproof.evals.asking.growing import GrowingRecord, read_growing
from draftproof.evals.asking.rounds import due
from draftproof.evals.attempt import ErrorType, Stage
from draftproof.evals.plan import Mode
from draftproof.evals.runs.journal import Journal
from draftproof.evals.runs.new_run import create_run
from draftproof.evals.runs.record import read_run
from draftproof.tasks.suite import load_suites
from hypothesis import given
from hypothesis import strategies as st

from .. import scripted_runs as asking
from ..build import BUDGET, RIGHT, WRONG, attempt, record, sample

SERVERS = {"baseline": "http://127.0.0.1:1/v1", "ngram": "http://127.0.0.1:2/v1"}

attempts = st.builds(
    lambda number, **keywords: replace(attempt(**keywords), index=number, request={"model": "m"}),
    number=st.integers(0, 99),
    content=st.sampled_from([RIGHT, WRONG]),
    sample_id=st.sampled_from(["s1", "s2"]),
    arm=st.sampled_from(["baseline", "ngram"]),
    stage=st.sampled_from(Stage),
    budget=st.sampled_from([BUDGET, 2 * BUDGET]),
    mode=st.sampled_from([Mode.PROMPTED, Mode.RAW]),
    error=st.sampled_from([None, ErrorType.TIMEOUT]),
)


def rows(by_sample):
    return {pair: sorted(row, key=lambda one: one.key) for pair, row in by_sample.items()}


def grown(made, kept):
    one = GrowingRecord(
        directory=made.directory,
        plan=made.plan,
        digest=made.digest,
        samples=made.samples,
        facts={},
        attempts=dict(made.attempts),
    )
    for more in kept:
        one.keep(more)
    return one


@given(st.lists(attempts, max_size=20), st.lists(attempts, max_size=20))
def test_a_grown_record_is_the_one_that_is_read(before, after):
    """In whatever order successes and failures come: the same attempts, rows and asks as from the journal."""
    samples = [sample("s1"), sample("s2")]
    start = grown(record(samples, []), before)
    start.by_sample, start.beside  # noqa: B018 - they are there before anything is added
    whole = grown(record(samples, []), [*before, *after])
    for one in after:
        start.keep(one)
    assert start.attempts == whole.attempts
    fresh = record(samples, whole.attempts.values())
    assert (rows(start.by_sample), rows(start.beside)) == (rows(fresh.by_sample), rows(fresh.beside))
    assert due(start) == due(fresh)
    assert not any(one.request for one in start.attempts.values())


def test_a_session_reads_its_run_without_the_requests(tmp_path):
    """They stay in the journal, where reports find them; all else is as written."""
    plan = asking.make_plan(asking.write_suite(tmp_path / "suite.jsonl", 1), SERVERS)
    create_run(tmp_path / "run", plan, load_suites(plan.run.tasks))
    with Journal(tmp_path / "run") as journal:
        journal.append(replace(attempt(sample_id="s/0"), request={"model": "m"}))
    whole, light = read_run(tmp_path / "run"), read_growing(tmp_path / "run")
    (read,) = whole.attempts.values()
    assert read.request == {"model": "m"}
    assert [one.to_line() for one in light.attempts.values()] == [read.without_request().to_line()]
    assert (light.samples, light.plan, light.digest) == (whole.samples, whole.plan, whole.digest)
