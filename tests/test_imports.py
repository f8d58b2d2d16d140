"""The house: imports run one way, and slow ones stand where they are used."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("parsers", "tasks", "evals", "reports")
# Who may import whom, beside their own folder and the front door's errors and version.
ALLOWED = {
    "parsers": set(),
    "tasks": {"parsers"},
    "evals": {"parsers", "tasks"},
    "reports": {"parsers", "tasks", "evals"},
    "": {"parsers", "tasks", "evals", "reports"},
}
# The rooms of evals, each with what it may know before it.
ROOMS = (
    *("", "servers", "reading", "runs", "at_rest", "judging", "comparing", "decision", "cluster"),
    *("asking", "summing_up", "probing"),
)
SLOW = (
    "aiohttp",
    "pandas",
    "datasets",
    "scipy",
    "matplotlib",
    "xllamacpp",
    "numpy",
    "pyarrow",
    "jinja2",
    "ray",
    "fsspec",
)


def product_files():
    files = [*ROOT.glob("*.py"), *(path for folder in FOLDERS for path in (ROOT / folder).rglob("*.py"))]
    return [path for path in files if path.name != "conftest.py"]


def imported_folders(path):
    """Folders of the package that a module imports, from its relative imports."""
    home = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = home[: len(home) - (node.level - 1)]
            parts = (*base, *(node.module or "").split("."))
            yield parts[0] if parts and parts[0] in FOLDERS else ""
        elif isinstance(node, ast.Import | ast.ImportFrom):
            is_plain = isinstance(node, ast.Import)
            names = [alias.name for alias in node.names] if is_plain else [node.module or ""]
            assert "draftproof" not in {name.split(".")[0] for name in names}, f"{path}: absolute import"


def imported_rooms(path):
    """Rooms of evals that one of its modules imports; "" are the modules that stand in no room."""
    home = path.parent.relative_to(ROOT).parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            parts = (*home[: len(home) - (node.level - 1)], *(node.module or "").split("."))
            if parts[0] == "evals":
                yield parts[1] if (ROOT / "evals" / parts[1]).is_dir() else ""


@pytest.mark.parametrize("path", sorted((ROOT / "evals").rglob("*.py")), ids=lambda path: path.stem)
def test_rooms_know_those_before_them(path):
    """In the order in which data flows; so no two know each other."""
    room = path.parent.name if path.parent.name != "evals" else ""
    before = ROOMS[: ROOMS.index(room) + 1]
    assert [one for one in imported_rooms(path) if one not in before] == []


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_run_one_way(path):
    """Nobody knows the folders above its own: parsers, tasks, evals, reports, the command line."""
    home = path.parent.relative_to(ROOT).parts[0] if path.parent != ROOT else ""
    for folder in imported_folders(path):
        assert folder in ("", home) or folder in ALLOWED[home], f"{path} imports {folder}"


def test_the_root_imports_nothing_of_the_package():
    """A checkout may have any folder name: `__init__.py` must not need the package to be installed."""
    assert list(imported_folders(ROOT / "__init__.py")) == []


def test_help_imports_nothing_slow():
    """`draftproof --help` is instant: slow libraries are imported where they are used."""
    code = (
        "import sys\nfrom draftproof.cli import app\n"
        "try:\n    app(['--help'])\nexcept SystemExit:\n    pass\n"
        f"print([name for name in {SLOW!r} + ('pydantic', 'jsonschema') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize("path", product_files(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_module_is_over_400_lines(path):
    """A crowded room is redesigned, not extended."""
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400
