"""A packed run read to Python values by each engine that is installed, and to attempts, beside its journals.

    python benchmarks/reading.py [--attempts 34000 | --run DIRECTORY]

PyArrow is what draftproof uses; DuckDB, Polars and Ray Data are measured where they can be imported. On every
side requests are left out: judging reads none. One thread; Ray Data by the clock, as it starts processes.
"""

import argparse
import gc
import tempfile
import time
from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

from draftproof.evals.at_rest.attempt_columns import attempts_of, columns_schema, read_rows
from draftproof.evals.at_rest.packed_file import attempts_file
from draftproof.evals.at_rest.packing import pack_run
from draftproof.evals.attempt import read_attempt
from draftproof.evals.runs.run_file import read_run_file
from made_run import journals, write_run
from measured import Row, best, print_table

COLUMNS = [name for name in columns_schema().names if name != "request"]
REPEATS = 4


def of_pyarrow(path: Path) -> None:
    """As draftproof reads it, but to plain values."""
    file = import_module("pyarrow.parquet").ParquetFile(path)
    for group in range(file.num_row_groups):
        file.read_row_group(group, COLUMNS, use_threads=False).to_pydict()


def of_polars(path: Path) -> None:
    frame = import_module("polars").read_parquet(path, columns=COLUMNS)
    for name in COLUMNS:
        frame[name].to_list()


def of_duckdb(path: Path) -> None:
    names = ", ".join(f'"{name}"' for name in COLUMNS)
    connection = import_module("duckdb").connect(config={"threads": 1})
    connection.execute(f"select {names} from '{path}'").fetchall()


def of_ray(path: Path) -> None:
    rows = import_module("ray.data").read_parquet(str(path), columns=COLUMNS)
    for batch in rows.iter_batches(batch_size=None, batch_format="pyarrow"):
        batch.to_pydict()


def of_packed(path: Path) -> None:
    file, arms = attempts_of(path.parent), {arm.name for arm in read_run_file(path.parent).plan.arms}
    for group in range(len(file.group_rows)):
        for _ in read_rows(file, group, arms, with_requests=False):
            pass


def of_journals(directory: Path) -> None:
    for path in journals(directory):
        with path.open("rb") as file:
            for line in file:
                read_attempt(line, with_request=False)


ENGINES: dict[str, tuple[str, Callable[[Path], None], Callable[[], float]]] = {
    "PyArrow": ("pyarrow", of_pyarrow, time.process_time),
    "Polars": ("polars", of_polars, time.process_time),
    "DuckDB": ("duckdb", of_duckdb, time.process_time),
    "Ray Data": ("ray.data", of_ray, time.perf_counter),
}


def seconds(read: Callable[[Path], None], path: Path, clock: Callable[[], float]) -> Iterator[float]:
    for _ in range(REPEATS):
        gc.collect()
        begun = clock()
        read(path)
        yield clock() - begun


def rows_of(directory: Path) -> Iterator[Row]:
    lines = sum(1 for path in journals(directory) for _ in path.open("rb"))
    gc.disable()
    with tempfile.TemporaryDirectory(dir=directory.parent) as folder:
        packed = Path(folder) / "packed"
        pack_run(directory, packed)
        path = attempts_file(packed)
        plain = best(seconds(of_journals, directory, time.process_time))

        def row(what: str, taken: float) -> Row:
            each, beside = (f"{one / lines * 1e6:.1f} µs each" for one in (taken, plain))
            return Row(
                f"{lines:,} packed attempts, {what}", each, f"journals to attempts {beside}", taken / plain
            )

        yield row("to attempts", best(seconds(of_packed, path, time.process_time)))
        for name, (module, read, clock) in ENGINES.items():
            try:
                version = import_module(module.partition(".")[0]).__version__
                import_module(module)
            except ImportError:
                continue
            yield row(f"{name} {version} to values", best(seconds(read, path, clock)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--attempts", type=int, default=34_000)
    parser.add_argument("--run", type=Path, help="read this one, which made_run.py made")
    options = parser.parse_args()
    if options.run is not None:
        print_table(rows_of(options.run))
        return
    with tempfile.TemporaryDirectory() as folder:
        write_run(Path(folder) / "run", options.attempts)
        print_table(rows_of(Path(folder) / "run"))


if __name__ == "__main__":
    main()
