"""Fixtures that several test modules share."""

import pytest
from draftproof.errors import UserError
from draftproof.evals.servers.model_file import fetch_default_model
from hypothesis import settings

# A deadline is a timed assertion: on a busy machine it fails without a fault. A profile without one stays.
if settings.default.deadline is not None:
    settings.register_profile("draftproof", deadline=None)
    settings.load_profile("draftproof")


@pytest.fixture(scope="session")
def model_path():
    """The small default model; without a way to fetch it, the tests that need it are skipped and say why."""
    try:
        return fetch_default_model(print)
    except UserError as error:
        pytest.skip(str(error))
