"""Compares Stet with nginx passing through, in one run: the same upstream, the same load, the same two cores.

Each row is measured in turn, round after round, so that a drift of the machine meets all of them alike; what is
printed are ratios to nginx within each round, and their median. No errors are allowed. Figures go to
docs/performance.md by hand, with what bounds each row.
"""

import argparse
import json
import os
import resource
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import on_postgres
import servers

HERE = Path(__file__).resolve().parent
BUILD = HERE.parent / "build" / "release"
STORE_BENCH = BUILD / "bench" / "store_bench"


def busy_seconds():
    """Processor time that the whole machine has spent, all cores together."""
    fields = [int(x) for x in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return (sum(fields[:3]) + sum(fields[5:8])) / os.sysconf("SC_CLK_TCK")


def fdatasync_p50_us(folder, times=300):
    path = folder / "fdatasync"
    path.write_bytes(b"\0" * 4096 * 16)
    fd = os.open(path, os.O_RDWR)
    spent = []
    for i in range(times):
        os.pwrite(fd, os.urandom(4096), 4096 * (i % 16))
        begin = time.perf_counter()
        os.fdatasync(fd)
        spent.append((time.perf_counter() - begin) * 1e6)
    os.close(fd)
    return statistics.median(spent)


class Bench:
    def __init__(self, arguments):
        self.arguments = arguments
        self.folder = Path(tempfile.mkdtemp(prefix="stet-bench-", dir=arguments.dir))
        self.folder.chmod(0o755)
        self.runs = 0
        self.everything = []

    def load(self, subject, port, mode, connections, seconds=None, run=None, keys=1000):
        """One run of wrk; the subject's processor time and the machine's foreign load come with it."""
        self.runs += 1
        seconds = seconds or self.arguments.seconds
        env = {**os.environ, "MODE": mode, "RUN": run or f"r{self.runs}-{os.getpid()}", "KEYS": str(keys)}
        before, ours_before, all_before = subject.cpu_seconds(), self.ours(), busy_seconds()
        wrk = subprocess.run(
            ["wrk", "-t1", f"-c{connections}", f"-d{seconds}s", "--timeout", "10s", "-s", str(HERE / "load.lua"),
             f"http://127.0.0.1:{port}"],
            env=env, capture_output=True, text=True, check=True,
        )
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        line = next(l for l in wrk.stdout.splitlines() if l.startswith("RESULT "))
        result = json.loads(line.removeprefix("RESULT "))
        if result["errors"]:
            raise SystemExit(f"bench: {result['errors']} errors in {mode} at {connections}: {wrk.stdout}")
        wrk_cpu = children.ru_utime + children.ru_stime - getattr(self, "children", 0)
        self.children = children.ru_utime + children.ru_stime
        result["rate"] = result["requests"] / result["seconds"]
        result["cpu_us"] = (subject.cpu_seconds() - before) * 1e6 / max(1, result["requests"])
        foreign = busy_seconds() - all_before - (self.ours() - ours_before) - wrk_cpu
        result["foreign"] = max(0.0, foreign / result["seconds"])
        return result

    def ours(self):
        return sum(server.cpu_seconds() for server in self.everything)

    def start(self, server_and_port):
        self.everything.append(server_and_port[0])
        return server_and_port

    def stet(self, upstream_port, store, settings=()):
        """On the store of that URL, or on a new SQLite file of that name."""
        store = store if ":" in store else f"sqlite:{self.folder / store}.db"
        return self.start(servers.stet(self.folder, self.arguments.binary, upstream_port, store, settings))

    def stop(self, server):
        server.stop()
        self.everything.remove(server)

    def close(self):
        for server in self.everything:
            server.stop()
        if not self.arguments.keep:
            shutil.rmtree(self.folder, ignore_errors=True)


def table(bench, upstream_port):
    neighbour, neighbour_port = bench.start(servers.passing_through(bench.folder, upstream_port))
    gateway, port = bench.stet(upstream_port, "table")
    keys = 1000
    for connections in bench.arguments.connections:
        bench.load(gateway, port, "replay", 8, seconds=2, run="known", keys=keys)  # makes the keys that are replayed
        rows = {"nginx": [], "unkeyed": [], "first-time": [], "replay": []}
        for _ in range(bench.arguments.rounds):
            rows["nginx"].append(bench.load(neighbour, neighbour_port, "unkeyed", connections))
            rows["unkeyed"].append(bench.load(gateway, port, "unkeyed", connections))
            rows["first-time"].append(bench.load(gateway, port, "fresh", connections))
            rows["replay"].append(bench.load(gateway, port, "replay", connections, run="known", keys=keys))
        print(f"\n{connections} connections, median of {bench.arguments.rounds} rounds")
        print(f"{'':12} {'req/s':>9} {'ratio':>7} {'cpu us/req':>11} {'p50 us':>9} {'p99 us':>9} {'foreign load':>13}")
        for name, results in rows.items():
            ratio = statistics.median(r["rate"] / n["rate"] for r, n in zip(results, rows["nginx"]))
            middle = {k: statistics.median(r[k] for r in results) for k in ("rate", "cpu_us", "p50_us", "p99_us", "foreign")}
            print(f"{name:12} {middle['rate']:9.0f} {ratio:7.2f} {middle['cpu_us']:11.1f} {middle['p50_us']:9.0f} "
                  f"{middle['p99_us']:9.0f} {middle['foreign']:12.0%}")
    sync = []
    alone = []
    for _ in range(bench.arguments.rounds):
        sync.append(fdatasync_p50_us(bench.folder))
        alone.append(bench.load(gateway, port, "fresh", 1)["p50_us"])
    ratio = statistics.median(a / s for a, s in zip(alone, sync))
    print(f"\none connection, first-time: p50 {statistics.median(alone):.0f} us, "
          f"fdatasync of a 4 KiB overwrite {statistics.median(sync):.0f} us, ratio {ratio:.2f}")
    bench.stop(neighbour)
    bench.stop(gateway)


def idle(bench, upstream_port, count):
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(count + 4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]),) * 2)
    gateway, port = bench.stet(upstream_port, "idle", (f"limits.connections={count + 100}", 'limits.keep_alive="10m"'))
    before = gateway.rss_bytes()
    connections = []
    request = b"GET /charges HTTP/1.1\r\nHost: bench\r\n\r\n"
    for _ in range(count):
        connection = socket.create_connection(("127.0.0.1", port))
        connection.sendall(request)
        connections.append(connection)
    for connection in connections:
        connection.settimeout(10)
        assert connection.recv(4096).startswith(b"HTTP/1.1 201")
    print(f"\n{count} idle connections, each after one request: {gateway.rss_bytes() / 1e6:.0f} MB resident "
          f"({before / 1e6:.0f} MB with none)")
    for connection in connections:
        connection.close()
    bench.stop(gateway)


def filled(bench, upstream_port, keys):
    """First-time requests on an empty store and on one with `keys` live keys, in turn."""
    store = bench.folder / "filled.db"
    subprocess.run([str(STORE_BENCH), "--keys", str(keys), "--fill", str(store)], check=True, stdout=sys.stderr)
    empty, empty_port = bench.stet(upstream_port, "empty")
    full, full_port = bench.stet(upstream_port, "filled")
    ratios = []
    for _ in range(bench.arguments.rounds):
        base = bench.load(empty, empty_port, "fresh", 64)
        ratios.append(bench.load(full, full_port, "fresh", 64)["rate"] / base["rate"])
    print(f"\nfirst-time at 64 connections with {keys} live keys, as a ratio to an empty store: {statistics.median(ratios):.2f}")
    bench.stop(empty)
    bench.stop(full)


def store_alone(bench):
    """The embedded store without the gateway: growing, in steady state beside its sweep, and started with many keys."""
    def run(title, *flags):
        print(f"\nthe store alone, {title}:", flush=True)
        subprocess.run([str(STORE_BENCH), "--dir", str(bench.folder), *flags], check=True)

    keys = str(bench.arguments.filled)
    run("new")
    run(f"with {keys} live keys", "--keys", keys)
    run(f"{keys} answers and as many tombstones being swept", "--keys", keys, "--sweep")
    if bench.arguments.start:
        run(f"started with {bench.arguments.start} keys", "--keys", str(bench.arguments.start), "--start", "--seconds", "0")


def main():
    parser = argparse.ArgumentParser(prog="./dev bench", description=__doc__)
    parser.add_argument("--seconds", type=int, default=5, help="of each run of wrk (default 5)")
    parser.add_argument("--rounds", type=int, default=5, help="of each row (default 5)")
    parser.add_argument("--connections", type=int, nargs="*", default=[64, 256])
    parser.add_argument("--idle", type=int, default=10_000, help="idle connections (0: leave out)")
    parser.add_argument("--filled", type=int, default=1_000_000, help="live keys (0: leave out)")
    parser.add_argument("--start", type=int, default=10_000_000, help="keys at start-up of the store alone (0: leave out)")
    parser.add_argument("--dir", default="/var/tmp", help="where the stores lie; the disk is part of what is measured")
    parser.add_argument("--binary", default=str(BUILD / "apps" / "stet" / "stet"))
    parser.add_argument("--keep", action="store_true", help="leave the folder with stores and logs")
    parser.add_argument("--postgres", choices=("also", "only", "no"), default="also", help="the rows on PostgreSQL")
    parser.add_argument("--postgres-filled", type=int, default=10_000_000,
                        help="completed operations loaded into PostgreSQL (0: leave out)")
    bench = Bench(parser.parse_args())
    try:
        _, upstream_port = bench.start(servers.upstream(bench.folder))
        if bench.arguments.postgres != "no":
            on_postgres.table(bench, upstream_port)
        if bench.arguments.postgres == "only":
            return
        table(bench, upstream_port)
        if bench.arguments.filled:
            filled(bench, upstream_port, bench.arguments.filled)
            store_alone(bench)
        if bench.arguments.idle:
            idle(bench, upstream_port, bench.arguments.idle)
    finally:
        bench.close()


if __name__ == "__main__":
    main()
