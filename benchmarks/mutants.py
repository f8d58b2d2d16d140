"""Do the tests notice when the judging is wrong? One change at a time, then the tests that concern it.

    python benchmarks/mutants.py [--module evals/judging/grade.py] [--list]

The changes are those of mutmut's mutators and three of our own (another member of an enum, a condition
turned round, a return of nothing). pytest collects once; each change is then judged in a fork, by the tests
that call the changed function, the quick ones first, up to the first that fails. No file is touched: a
function gets the code of its changed self, and what stands outside functions is imported anew.

A change that no test notices is printed as a diff. The exit code is 1 unless `docs/mutation.md` shows that
diff and says why it changes nothing.
"""

import argparse
import difflib
import functools
import importlib.abc
import importlib.util
import inspect
import json
import os
import re
import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import FunctionType, ModuleType

import pytest
from hypothesis import settings

ROOT = Path(__file__).parent.parent
EXPLAINED = ROOT / "docs" / "mutation.md"
MODULES = (
    "evals/judging/grade.py",
    "evals/judging/attribute.py",
    "evals/decision/statistics.py",
    "evals/decision/alarms.py",
)
# Not every change in these is noticed or explained yet: only where they are named.
OPEN_MODULES = ("evals/judging/ladder.py", "evals/decision/gate.py")
# The tests that ask no server.
TESTS = tuple(
    f"tests/evals/{name}.py"
    for name in (
        *("judging/test_grade", "judging/test_attribute", "judging/test_finding", "reading/test_answer"),
        *("asking/test_rounds", "decision/test_statistics", "decision/test_alarms", "decision/test_gate"),
        *("decision/test_sequential", "decision/test_repeats", "decision/test_power"),
    )
)
SLOWEST_TEST_SECONDS = 1.5
# Silent, so without the options of pyproject.toml that are about what is shown.
OPTIONS = (
    *("-x", "-o", "addopts=", "--import-mode=importlib", "-m", "not heavy", "-n", "0"),
    *("-p", "no:cacheprovider", "-p", "no:terminal"),
    *("-W", "ignore::pytest.PytestAssertRewriteWarning"),  # said of what is imported before pytest starts
)
# Of processor time: how long the machine takes for it says nothing.
LONGEST_SECONDS = 60
LONGEST_LOOK_SECONDS = 600


@dataclass(frozen=True, slots=True)
class Mutant:
    """One changed module: its whole source, the line of the change, and the change as a diff without context.

    `function` is the first line of the outermost function that holds the change, None outside of functions.
    """

    code: str
    line: int
    diff: str
    function: int | None


def mutants(source: str) -> Iterator[Mutant]:
    """Every change of a source that leaves it Python."""
    import libcst
    from libcst.metadata import MetadataWrapper, PositionProvider
    from mutmut.mutation.file_mutation import MutationVisitor
    from mutmut.mutation.mutators import mutation_operators
    from mutmut.mutation.pragma_handling import IgnoredCode

    wrapper = MetadataWrapper(libcst.parse_module(source))
    own = [
        (libcst.Attribute, _other_member(source)),
        (libcst.If, _turned_round),
        (libcst.IfExp, _turned_round),
        (libcst.Return, _returned_nothing),
    ]
    visitor = MutationVisitor([*mutation_operators, *own], IgnoredCode(set(), set(), set()))
    module = wrapper.visit(visitor)
    places = wrapper.resolve(PositionProvider)
    seen = set[str]()
    for one in visitor.mutations:
        changed = module.deep_replace(one.original_node, one.mutated_node)
        assert isinstance(changed, libcst.Module)
        code = changed.code
        # A string in other letters tells no more than the one with letters around it, which is there as well.
        if code.casefold() == source.casefold() or code in seen or not _is_python(code):
            continue
        seen.add(code)
        place, outer = places.get(one.original_node), one.contained_by_top_level_function
        function = None
        if isinstance(outer, libcst.FunctionDef):  # to Python it begins with its first decorator
            function = places[outer.decorators[0] if outer.decorators else outer].start.line
        yield Mutant(code, place.start.line if place else 0, _diff(source, code), function)


def _is_python(code: str) -> bool:
    try:
        return bool(compile(code, "mutant", "exec"))
    except SyntaxError:
        return False


def _other_member(source: str) -> Callable[..., Iterator[object]]:
    """An enum's member becomes the next one that the module names."""
    import libcst

    members: dict[str, list[str]] = {}
    for name, member in re.findall(r"\b([A-Z][a-zA-Z]+)\.([A-Z][A-Z_]+)\b", source):
        known = members.setdefault(name, [])
        if member not in known:
            known.append(member)

    def operator(node):
        known = members.get(getattr(node.value, "value", ""), [])
        if node.attr.value in known and len(known) > 1:
            other = known[(known.index(node.attr.value) + 1) % len(known)]
            yield node.with_changes(attr=libcst.Name(other))

    return operator


def _turned_round(node):
    import libcst

    bracketed = node.test.with_changes(lpar=[libcst.LeftParen()], rpar=[libcst.RightParen()])
    yield node.with_changes(test=libcst.UnaryOperation(libcst.Not(), bracketed))


def _returned_nothing(node):
    import libcst

    if node.value is not None and getattr(node.value, "value", "") != "None":
        yield node.with_changes(value=libcst.Name("None"))


def _diff(before: str, after: str) -> str:
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), lineterm="", n=0)
    return "\n".join(line.rstrip() for line in lines if not line.startswith(("---", "+++", "@@")))


def explained(page: str, path: str) -> set[str]:
    """The diffs that the page shows below the heading of a module."""
    _, _, rest = page.partition(f"## {path}\n")
    return set(re.findall(r"```diff\n(.*?)\n```", rest.partition("\n## ")[0], re.DOTALL))


def module_name(path: str) -> str:
    return "draftproof." + path.removesuffix(".py").replace("/", ".")


def functions(namespace: ModuleType) -> dict[str, FunctionType]:
    """Every function of a module and of its classes by its full name, out of properties and caches."""
    found: dict[str, FunctionType] = {}
    owners = [namespace, *(one for one in vars(namespace).values() if isinstance(one, type))]
    for owner in owners:
        for member in vars(owner).values():
            inner = member.fget if isinstance(member, property) else member
            one = inspect.unwrap(inner) if callable(inner) else inner
            if isinstance(one, FunctionType) and one.__module__ == namespace.__name__:
                found[one.__qualname__] = one
    return found


def change_functions(path: str, code: str) -> None:
    """Give every function of an imported module the code that it has in a changed source."""
    module = sys.modules[module_name(path)]
    changed = ModuleType(module.__name__)
    changed.__dict__.update({"__package__": module.__package__, "__file__": module.__file__})
    # Dataclasses look their own module up while they are made.
    sys.modules[module.__name__] = changed
    exec(compile(code, str(ROOT / path), "exec"), changed.__dict__)
    sys.modules[module.__name__] = module
    theirs = functions(changed)
    for name, function in functions(module).items():
        function.__code__ = theirs[name].__code__
        function.__defaults__ = theirs[name].__defaults__
        function.__kwdefaults__ = theirs[name].__kwdefaults__


class MutantFinder(importlib.abc.MetaPathFinder, importlib.abc.InspectLoader):
    """Gives out one module's changed source in place of its file, to a pytest that has not imported it."""

    def __init__(self, path: str, code: str) -> None:
        self._path = path
        self._code = code

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        del path, target
        if fullname != module_name(self._path):
            return None
        return importlib.util.spec_from_file_location(fullname, ROOT / self._path, loader=self)

    def get_source(self, fullname: str) -> str:
        del fullname
        return self._code


def forked(work: Callable[[], int], seconds: int = LONGEST_SECONDS) -> int:
    """Run `work` in a silent fork; return its exit code, a negative one if it took too long."""
    child = os.fork()
    if child:
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    try:
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        code = work()
    except BaseException:  # noqa: BLE001 - a change may break anything, and then it was noticed
        code = 99
    os._exit(code)


@dataclass
class Judge:
    """A pytest plugin: once all tests are collected, judges mutants in place of running the tests once."""

    modules: tuple[str, ...]
    page: str
    made: int = 0
    noticed: int = 0
    accepted: int = 0
    calls: dict[str, dict[int, list[pytest.Item]]] = field(default_factory=dict)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.look(session)
        for path in self.modules:
            self.judge(session, path)
        return True

    def look(self, session: pytest.Session) -> None:
        """Run every test once, in a fork; learn which functions it calls, and how long it takes."""
        report = Path(tempfile.mkstemp()[1])
        code = forked(functools.partial(watched, session, self.modules, report), LONGEST_LOOK_SECONDS)
        seen = json.loads(report.read_text(encoding="utf-8")) if code == 0 else None
        if seen is None:
            raise SystemExit(f"the tests do not pass as they stand ({code}): {report.read_text('utf-8')}")
        report.unlink()
        items = sorted(session.items, key=lambda item: seen[item.nodeid]["seconds"])
        for item in items:
            one = seen[item.nodeid]
            if one["seconds"] < SLOWEST_TEST_SECONDS:
                for path, line in one["calls"]:
                    self.calls.setdefault(path, {}).setdefault(line, []).append(item)

    def judge(self, session: pytest.Session, path: str) -> None:
        """Judge the mutants of one module."""
        started, source = time.monotonic(), (ROOT / path).read_text(encoding="utf-8")
        known, seen = explained(self.page, path), set[str]()
        made = noticed = accepted = 0
        for mutant in mutants(source):
            seen.add(mutant.diff)
            made += 1
            if forked(functools.partial(self.work, session, path, mutant)) != 0:
                noticed += 1
            elif mutant.diff in known:
                accepted += 1
            else:
                print(f"{path}:{mutant.line}: no test notices\n{mutant.diff}\n", flush=True)
        for gone in sorted(known - seen):
            print(f"{path}: {EXPLAINED.name} explains a change that does not exist\n{gone}\n")
        minutes = (time.monotonic() - started) / 60
        print(
            f"{path}: {made} mutants, {noticed} noticed, {accepted} explained, {minutes:.1f} minutes",
            flush=True,
        )
        self.made, self.noticed, self.accepted = (
            self.made + made,
            self.noticed + noticed,
            self.accepted + accepted,
        )

    def work(self, session: pytest.Session, path: str, mutant: Mutant) -> int:
        if mutant.function is None:
            files = {item.path for items in self.calls[path].values() for item in items}
            return anew(path, mutant.code, sorted(map(str, files)))
        change_functions(path, mutant.code)
        return first_failure(session, self.calls[path].get(mutant.function, []))


def watched(session: pytest.Session, paths: tuple[str, ...], report: Path) -> int:
    """Run all tests under a tracer; write what each calls and how long it takes."""
    files = {str(ROOT / path): path for path in paths}
    seen: dict[str, dict[str, object]] = {}
    for number, item in enumerate(session.items):
        calls = set[tuple[str, int]]()

        def tracer(frame, event, argument, calls=calls):
            del argument
            if event == "call" and (path := files.get(frame.f_code.co_filename)) is not None:
                calls.add((path, outermost(frame)))

        started = time.process_time()
        sys.settrace(tracer)
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_of(session.items, number))
        sys.settrace(None)
        if session.testsfailed:
            report.write_text(item.nodeid, encoding="utf-8")
            return 1
        seen[item.nodeid] = {"seconds": time.process_time() - started, "calls": sorted(calls)}
    report.write_text(json.dumps(seen), encoding="utf-8")
    return 0


def outermost(frame) -> int:
    """The first line of the function a frame belongs to; of a nested one, that of the one around it."""
    file = frame.f_code.co_filename
    line = frame.f_code.co_firstlineno
    while (frame := frame.f_back) is not None and frame.f_code.co_filename == file:
        if frame.f_code.co_firstlineno <= line <= max(number or 0 for *_, number in frame.f_code.co_lines()):
            line = frame.f_code.co_firstlineno
    return line


def first_failure(session: pytest.Session, items: list[pytest.Item]) -> int:
    """Run tests up to the first that fails; 1 if one did."""
    for number, item in enumerate(items):
        item.config.hook.pytest_runtest_protocol(item=item, nextitem=next_of(items, number))
        if session.testsfailed:
            return 1
    return 0


def next_of(items: list[pytest.Item], number: int) -> pytest.Item | None:
    return items[number + 1] if number + 1 < len(items) else None


def anew(path: str, code: str, files: list[str]) -> int:
    """Run a fresh pytest on a changed module, everything of ours imported anew."""
    for name in [name for name in sys.modules if name.split(".")[0] in ("draftproof", "tests")]:
        del sys.modules[name]
    sys.meta_path.insert(0, MutantFinder(path, code))
    return pytest.main([*OPTIONS, *files])


def main() -> int:
    """Judge every module, or those that are named."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--module", action="append", choices=[*MODULES, *OPEN_MODULES])
    parser.add_argument("--list", action="store_true", help="show the mutants and run nothing")
    options = parser.parse_args()
    os.chdir(ROOT)
    modules = tuple(options.module or MODULES)
    if options.list:
        for path in modules:
            for mutant in mutants((ROOT / path).read_text(encoding="utf-8")):
                print(f"{path}:{mutant.line} ({mutant.function})\n{mutant.diff}\n")
        return 0
    # No examples kept: one mutant must not tell the next what to try.
    settings.register_profile("mutants", database=None, deadline=None, derandomize=True)
    settings.load_profile("mutants")
    judge = Judge(modules, EXPLAINED.read_text(encoding="utf-8") if EXPLAINED.exists() else "")
    code = pytest.main([*OPTIONS, *TESTS], plugins=[judge])
    left = judge.made - judge.noticed - judge.accepted
    print(f"{judge.made} mutants: {judge.noticed} noticed, {judge.accepted} explained, {left} neither")
    return int(bool(code or left))


if __name__ == "__main__":
    sys.exit(main())
