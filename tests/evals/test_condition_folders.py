"""Conditions that a plan names several of: the tables they make, and the folders of their runs."""

import pytest
from draftproof.evals.conditions import conditions_of, folder_names, runs_in


@pytest.mark.parametrize(
    ("run", "names"),
    [
        ({}, [""]),
        ({"concurrency": 4, "isolate": True}, [""]),
        ({"concurrency": [4]}, [""]),
        ({"concurrency": [16, 1]}, ["concurrency-16", "concurrency-1"]),
        ({"isolate": "both"}, ["shared", "isolated"]),
        (
            {"concurrency": [1, 16], "isolate": "both"},
            [
                "concurrency-1-shared",
                "concurrency-1-isolated",
                "concurrency-16-shared",
                "concurrency-16-isolated",
            ],
        ),
    ],
)
def test_every_condition_is_a_run_with_a_folder_of_its_own(run, names):
    """Named after what varies, and the plan's own directory where nothing does."""
    made = conditions_of({"seed": 7, **run}, source="plan.toml")
    assert [one["seed"] for one in made] == [7] * len(names)
    assert folder_names([(one.get("concurrency", 8), one.get("isolate", False)) for one in made]) == names


def test_the_runs_of_a_folder_are_found_again_the_smallest_first(tmp_path):
    """Whatever else stands there is no run of this folder; a run's own directory is itself."""
    names = [
        "concurrency-16-isolated",
        "concurrency-2-isolated",
        "concurrency-16-shared",
        "notes",
        "isolated",
    ]
    for name in names:
        (tmp_path / name).mkdir()
        (tmp_path / name / "run.json").touch()
    (tmp_path / "concurrency-4").mkdir()
    assert [path.name for path in runs_in(tmp_path)] == [
        "isolated",
        "concurrency-2-isolated",
        "concurrency-16-shared",
        "concurrency-16-isolated",
    ]
    assert runs_in(tmp_path / "isolated") == [tmp_path / "isolated"]
    assert runs_in(tmp_path / "nowhere") == [tmp_path / "nowhere"]
