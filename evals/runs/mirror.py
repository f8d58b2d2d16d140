"""A run directory at a URL: asked in a local folder, fetched before and copied there on the way.

A journal is appended to, which object stores cannot do. So whole files are copied, and of two copies of a
journal the longer one holds, as long as the other is its beginning.
"""

import contextlib
import hashlib
import importlib
import importlib.util
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Generator, Iterable
from pathlib import Path
from typing import Any, Self
from urllib.parse import urlsplit

from ...errors import UserError
from .journal import RunLock

RUN_FILE = "run.json"
SAMPLES = "samples.jsonl"
LOCK = "mirror.lock"
# Often enough for a machine that is lost, and at most a tenth of the time where copying takes long.
COPY_SECONDS = 60.0
COPY_SHARE = 10
_NOTHING_ASKED = "nothing was asked; see to the URL, the credentials in the environment, and the network"
# Of a file at the URL whose copying broke off.
_UNKNOWN = -1


@contextlib.contextmanager
def open_directory(out: str, tell: Callable[[str], None]) -> Generator[Path]:
    """Give the run directory for `--out`: the path itself, or the local side of a URL.

    Raises:
        UserError: See `Mirror`.
    """
    if "://" not in out:
        yield Path(out)
        return
    with Mirror(out, local_folder(out), tell) as mirror:
        yield mirror.directory


def local_folder(url: str) -> Path:
    """Where the run of a URL stands on this machine: the same for every session."""
    name = urlsplit(url).path.rstrip("/").rpartition("/")[2] or "run"
    return Path("runs") / f"{name}-{hashlib.sha256(url.rstrip('/').encode()).hexdigest()[:8]}"


class Mirror:
    """The two sides of one run, while the context lasts; one session at a time may write them.

    Args:
        url: Any that fsspec knows (`s3://bucket/run`); how to get in is the environment's or fsspec's own.
        directory: The local side. It stays: what could not be copied is not lost, and goes there next time.
        tell: Prints a sentence to the user.

    Raises:
        UserError: No fsspec, no such place, something else there, or two sides that went on apart.
    """

    def __init__(self, url: str, directory: Path, tell: Callable[[str], None]) -> None:
        if not url.partition("://")[2].strip("/"):
            raise UserError(f"--out {url}: names no place; expected such as s3://bucket/run")
        if urlsplit(url).password is not None:
            raise UserError(
                f"--out: {urlsplit(url).scheme}:// with a password; expected it in the environment"
            )
        self.directory, self._url, self._tell = directory, url.rstrip("/"), tell
        self._files, self._root = _open(self._url)
        self._copied: dict[str, tuple[int, int]] = {}
        self._sizes_there: dict[str, int] = {}
        self._ended = threading.Event()
        self._copier = threading.Thread(target=self._copy_on_the_way, daemon=True)
        self._lock = RunLock(directory, LOCK)

    def __enter__(self) -> Self:
        self._lock.__enter__()
        try:
            self._fetch()
        except BaseException as error:
            self._lock.__exit__(type(error), error, None)
            raise
        self._tell(f"the run stands in {self.directory}, and is copied to {self._url}")
        self._copier.start()
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> None:
        self._ended.set()
        self._copier.join()
        try:
            self._copy()
        except UserError as problem:
            if error is None:
                raise
            # What ended the run is what the user must read; this is beside it.
            self._tell(f"note: {problem}")
        finally:
            self._lock.__exit__(None, None, None)

    def _fetch(self) -> None:
        """Take over what the URL has more of than this side; all of it, or nothing."""
        with self._at_the_url(_NOTHING_ASKED), tempfile.TemporaryDirectory() as folder:
            names = [path.removeprefix(f"{self._root}/") for path in self._files.find(self._root)]
            if not names:
                return
            if RUN_FILE not in names:
                raise UserError(
                    f"{self._url}: is not empty and not a run (no {RUN_FILE})", tip="give another --out"
                )
            for name in names:
                place = Path(folder) / name
                place.parent.mkdir(parents=True, exist_ok=True)
                self._files.get_file(f"{self._root}/{name}", str(place))
                self._sizes_there[name] = place.stat().st_size
            for name in self._to_take(Path(folder), names):
                place = self.directory / name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(Path(folder) / name, place)

    def _to_take(self, there: Path, names: Iterable[str]) -> list[str]:
        new = [name for name in names if not (self.directory / name).exists()]
        common = [name for name in names if name not in new]
        longer: list[str] = []
        for name in sorted(common, key=lambda name: name != SAMPLES):
            if name.endswith(".jsonl") and name != "findings.jsonl":
                here, copy = self.directory / name, there / name
                short, long = sorted((here, copy), key=lambda path: path.stat().st_size)
                if not _begins_with(long, short) or (name == SAMPLES and not _begins_with(short, long)):
                    raise UserError(
                        f"{self._url}: {name} went on otherwise than in {self.directory}",
                        tip="two machines asked this run, or it is another one: move the folder away to go "
                        "on from the URL, or give another --out",
                    )
                if long is copy and short.stat().st_size != long.stat().st_size:
                    longer.append(name)
        # What is rewritten whole belongs to the side that came further.
        rewritten = [name for name in common if not name.endswith(".jsonl")] if longer or new else []
        return [*new, *longer, *rewritten]

    def _copy_on_the_way(self) -> None:
        pause, has_told = COPY_SECONDS, False
        while not self._ended.wait(pause):
            started = time.monotonic()
            try:
                self._copy()
            except UserError as problem:
                if not has_told:
                    self._tell(f"note: {problem.what}; the run goes on, and this is tried again")
                has_told = True
            pause = max(COPY_SECONDS, COPY_SHARE * (time.monotonic() - started))

    def _copy(self) -> None:
        """Copy what has changed; `run.json` first, since it makes a run of what else stands there."""
        with self._at_the_url(f"every answer so far is in {self.directory}; the same command copies it"):
            paths = [path for path in self.directory.rglob("*") if _is_copied(path)]
            for path in sorted(paths, key=lambda path: (path.name != RUN_FILE, path)):
                name, state = path.relative_to(self.directory).as_posix(), path.stat()
                if self._copied.get(name) == (state.st_mtime_ns, state.st_size):
                    continue
                place = f"{self._root}/{name}"
                self._refuse_strangers(name, place)
                self._files.makedirs(place.rpartition("/")[0], exist_ok=True)
                self._sizes_there[name] = _UNKNOWN
                self._files.put_file(str(path), place)
                # The file may have grown meanwhile: then it is copied again.
                self._copied[name] = (state.st_mtime_ns, state.st_size)
                self._sizes_there[name] = self._size_of(place)

    def _refuse_strangers(self, name: str, place: str) -> None:
        """Never write over what another session has put there since."""
        size = self._sizes_there.get(name)
        if size != _UNKNOWN and self._files.exists(place) and self._size_of(place) != size:
            raise UserError(
                f"{self._url}: {name} was written by somebody else",
                tip=f"every answer of this session is in {self.directory}; give it another --out",
                exit_code=4,
            )

    def _size_of(self, place: str) -> int:
        self._files.invalidate_cache()
        return int(self._files.info(place)["size"])

    @contextlib.contextmanager
    def _at_the_url(self, tip: str) -> Generator[None]:
        try:
            yield
        except UserError:
            raise
        except Exception as error:  # noqa: BLE001 - every file system has errors of its own
            raise UserError(
                f"{self._url}: cannot be read or written ({type(error).__name__}: {error})",
                tip=tip,
                exit_code=4,
            ) from None


def _open(url: str) -> tuple[Any, str]:
    if importlib.util.find_spec("fsspec") is None:
        raise UserError("--out with a URL needs fsspec", tip="pip install 'draftproof[ray]'")
    core: Any = importlib.import_module("fsspec.core")
    try:
        files, root = core.url_to_fs(url)
    except (ImportError, ValueError) as error:
        raise UserError(
            f"--out {url}: {error}", tip="fsspec names the package for each kind of URL"
        ) from None
    files.use_listings_cache = False
    return files, str(root).rstrip("/")


def _is_copied(path: Path) -> bool:
    return path.is_file() and not path.name.startswith(".") and path.suffix != ".lock"


def _begins_with(path: Path, beginning: Path) -> bool:
    with path.open("rb") as long, beginning.open("rb") as short:
        while piece := short.read(1 << 20):
            if long.read(len(piece)) != piece:
                return False
    return True
