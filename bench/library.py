"""What run_once costs around a transaction of one row, on both databases: the figures of docs/performance.md, The library."""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "release"
sys.path.insert(0, str(HERE.parent / "tests"))

from support.postgres import Cluster  # noqa: E402


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=5)
    parser.add_argument("--build", type=Path, default=BUILD)
    parser.add_argument("--stet", type=Path)
    arguments, _ = parser.parse_known_args()
    bench = arguments.build / "bench" / "run_once_bench"
    with tempfile.TemporaryDirectory(prefix="stet-bench-") as folder:
        for durability in ("full", "os"):
            subprocess.run([bench, "sqlite", Path(folder) / f"{durability}.db", durability, str(arguments.seconds)], check=True)
    with Cluster(fsync=True) as cluster:
        database = cluster.create_database("bench")
        url = cluster.url(database)
        stet = arguments.stet or arguments.build / "apps" / "stet" / "stet"
        subprocess.run([stet, "schema", "apply", "--store", url], check=True, stdout=subprocess.DEVNULL)
        subprocess.run([bench, "postgres", url, str(arguments.seconds)], check=True)


if __name__ == "__main__":
    main()
