"""What a request costs more when the nodes of a Ray cluster send it, beside a plain run.

    python benchmarks/spreading.py [--requests 1000] [--concurrency 64] [--nodes 2]

All nodes are on this machine and share its cores, so the driver's CPU tells more than the wall time does.
Starting is left out: two runs of different length are subtracted from each other.
"""

import argparse
import json
import os
import tempfile
import time
from pathlib import Path

from asking import cpu_seconds, own
from made_run import write_suite
from measured import child
from quick_server import quick_servers

SHORT = 100


def measured(url: str, count: int, concurrency: int, ray: str | None) -> dict[str, float]:
    """Of this process, the driver."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        few, all_of_them = (write_suite(folder / f"{n}.jsonl", n // 2) for n in (4, count))
        own(url, few, folder, 1, stream=False)
        before, started = cpu_seconds(), time.perf_counter()
        own(url, all_of_them, folder, concurrency, stream=False, ray=ray)
        return {"wall_s": time.perf_counter() - started, "cpu_s": cpu_seconds() - before}


def per_request(url: str, count: int, concurrency: int, ray: str) -> tuple[float, float, float]:
    """Milliseconds of wall time and of the driver's CPU, and seconds of all the rest."""
    short, long = (
        child("spreading.py", "--child", url, requests, concurrency, ray) for requests in (SHORT, count)
    )
    wall = (long["wall_s"] - short["wall_s"]) / (count - SHORT)
    cpu = (long["cpu_s"] - short["cpu_s"]) / (count - SHORT)
    return wall * 1e3, cpu * 1e3, short["wall_s"] - wall * SHORT


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--child", nargs=4, metavar=("URL", "REQUESTS", "CONCURRENCY", "RAY"))
    options = parser.parse_args()
    if options.child is not None:
        url, count, concurrency, ray = options.child
        print(json.dumps(measured(url, int(count), int(concurrency), None if ray == "-" else ray)))
        return
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    with quick_servers() as url:
        from ray.cluster_utils import Cluster

        cluster = Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        for _ in range(options.nodes):
            cluster.add_node(num_cpus=1)
        for name, ray in (("plain", "-"), (f"{options.nodes} nodes of Ray", cluster.address)):
            wall, cpu, rest = per_request(url, options.requests, options.concurrency, ray)
            print(f"{name}: {wall:.2f} ms a request, {cpu:.2f} ms CPU of the driver; {rest:.1f} s beside")
        cluster.shutdown()


if __name__ == "__main__":
    main()
