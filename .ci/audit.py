"""Ask OSV whether a version in constraints.txt has a known vulnerability.

Every pin is asked about, those for other machines and Pythons too. The exit code is 0 if none is known, 1 if
one is, and 3 if that could not be found out: an answer that never came is no clean answer.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LOCK = Path(__file__).parent.parent / "constraints.txt"
SERVICE = "osv"
CLEAN, VULNERABLE, NOT_AUDITED = 0, 1, 3
LONGEST_SECONDS = 600


def pins(lock: str) -> list[dict[str, str]]:
    """The versions of a lock file, in tables that name each package once (Pythons may differ in one)."""
    tables: list[dict[str, str]] = []
    for line in lock.splitlines():
        pin = line.partition("#")[0].partition(";")[0].strip()
        if pin:
            name, _, version = pin.partition("==")
            table = next((one for one in tables if name not in one), None)
            if table is None:
                tables.append(table := {})
            table[name] = version
    return tables


def ask(table: dict[str, str]) -> list[dict[str, object]]:
    """What the service says of each package of a table.

    Raises:
        ConnectionError: It did not answer for all of them.
    """
    with tempfile.TemporaryDirectory() as folder:
        wanted, told = Path(folder) / "pins.txt", Path(folder) / "told.json"
        wanted.write_text("".join(f"{name}=={version}\n" for name, version in table.items()), "utf-8")
        command = [sys.executable, "-m", "pip_audit", "--requirement", wanted, "--no-deps", "--disable-pip"]
        command += ["--vulnerability-service", SERVICE, "--format", "json", "--output", told]
        try:
            done = subprocess.run(
                [*command, "--progress-spinner", "off"],
                check=False,
                capture_output=True,
                text=True,
                timeout=LONGEST_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise ConnectionError(f"no answer within {LONGEST_SECONDS} seconds") from error
        if not told.exists():
            raise ConnectionError((done.stderr.strip() or "no answer").splitlines()[-1])
        packages = json.loads(told.read_text("utf-8"))["dependencies"]
    if skipped := [one["name"] for one in packages if "skip_reason" in one]:
        raise ConnectionError(f"the service does not know {', '.join(skipped)}")
    return packages


def main() -> int:
    """Ask, and print what was found out."""
    if importlib.util.find_spec("pip_audit") is None:
        print("not audited: pip-audit is not installed here; `make audit` installs it")
        return NOT_AUDITED
    tables = pins(LOCK.read_text("utf-8"))
    try:
        packages = [one for table in tables for one in ask(table)]
    except ConnectionError as error:
        print(f"not audited: service unreachable ({error})")
        return NOT_AUDITED
    found = [(one, each) for one in packages for each in one["vulns"]]
    for one, each in found:
        mended = ", ".join(each["fix_versions"]) or "no version"
        print(f"{one['name']} {one['version']}: {each['id']}, mended in {mended}")
    print(f"{len(packages)} locked versions audited: {len(found)} known vulnerabilities")
    return VULNERABLE if found else CLEAN


if __name__ == "__main__":
    sys.exit(main())
