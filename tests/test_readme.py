"""The README tells the truth about the commands there are."""

import re
from pathlib import Path

import pytest
import typer.main
from draftproof.cli import app

README = (Path(__file__).parent.parent / "README.md").read_text(encoding="utf-8")


def commands(group=None, prefix="draftproof"):
    group = group or typer.main.get_group(app)
    for name, command in group.commands.items():
        if getattr(command, "commands", None):
            yield from commands(command, f"{prefix} {name}")
        else:
            yield f"{prefix} {name}"


@pytest.mark.parametrize("command", list(commands()))
def test_every_command_is_in_the_readme(command):
    """A command that the README does not show does not exist for a newcomer."""
    assert command in README


def test_every_command_in_the_readme_exists():
    """And the README shows none that is not there."""
    known = set(commands())
    blocks = re.findall(r"```(?:sh)?\n(.*?)```", README, re.DOTALL)
    shown = set(re.findall(r"draftproof (?:tasks )?[a-z]+", "\n".join(blocks)))
    assert shown
    assert shown <= known
