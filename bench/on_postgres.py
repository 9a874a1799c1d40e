"""The rows on PostgreSQL: Stet there and on SQLite, the usual pattern in Node, and the bare statements by pgbench.

One cluster of its own on the measured disk, fsync on, all of them on it in turn.
"""

import os
import re
import statistics
import subprocess
import sys
from pathlib import Path

import servers

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests" / "support"))
from postgres import BIN, PORT, Cluster  # noqa: E402

SETTINGS = {"shared_buffers": "512MB", "max_wal_size": "8GB", "checkpoint_timeout": "30min", "max_connections": "200"}

# What no implementation of the pattern can do without: one row made and made durable, and once more changed.
BARE = """\\set k random(1, 9223372036854775807)
INSERT INTO bare (key, fingerprint, created_at) VALUES (:k, sha256('x'), now()) ON CONFLICT DO NOTHING;
UPDATE bare SET status = 201, headers = '[["Content-Type", "application/json"]]', body = '{"id":"ch_8e03978e40d5"}' WHERE key = :k;
"""

# Completed operations as a day of traffic leaves them, made without going through the gateway.
FILL = (Path(__file__).resolve().parent / "fill_postgres.sql").read_text()


class Postmaster:
    """The server as the bench counts processor time."""

    def __init__(self, cluster):
        self.process = cluster.child

    pids = servers.Server.pids
    cpu_seconds = servers.Server.cpu_seconds

    def stop(self):
        pass  # its `with` does


def bare(cluster, folder, seconds):
    """Pairs of the two statements a second, each its own transaction, from 64 connections."""
    script = folder / "bare.sql"
    script.write_text(BARE)
    out = subprocess.run(
        ["pgbench", "-n", "-M", "prepared", "-c", "64", "-j", "1", "-T", str(seconds), "-f", str(script),
         "-h", str(cluster.directory), "-p", str(PORT), "-U", "postgres", "bare"],
        capture_output=True, text=True, check=True, env={**os.environ, "PATH": f"{BIN}:{os.environ['PATH']}"},
    ).stdout
    return float(re.search(r"tps = ([0-9.]+)", out).group(1))


def table(bench, upstream_port):
    with Cluster(SETTINGS, fsync=True, within=bench.arguments.dir) as cluster:
        postmaster = Postmaster(cluster)
        bench.everything.append(postmaster)
        for name in ("bare", "node", "stet"):
            cluster.create_database(name)
        cluster.execute("CREATE TABLE bare (key bigint PRIMARY KEY, fingerprint bytea NOT NULL, created_at timestamptz NOT NULL, "
                        "status int, headers jsonb, body bytea)", database="bare")
        environment = {"PGHOST": str(cluster.directory), "PGPORT": str(PORT), "PGUSER": "postgres", "PGDATABASE": "node"}
        subjects = {
            "node": bench.start(servers.node_pg(bench.folder, upstream_port, environment)),
            "postgresql": bench.stet(upstream_port, cluster.url("stet")),
            "sqlite": bench.stet(upstream_port, "beside"),
        }
        compare(bench, cluster, subjects)
        if bench.arguments.postgres_filled:
            filled(bench, cluster, upstream_port, subjects["postgresql"])
        for server, _ in subjects.values():
            bench.stop(server)
        bench.everything.remove(postmaster)


def compare(bench, cluster, subjects, connections=64):
    rows = {(name, mode): [] for name in subjects for mode in ("fresh", "replay")}
    bare_rates = []
    for server, port in subjects.values():
        bench.load(server, port, "replay", 8, seconds=2, run="known")
    for _ in range(bench.arguments.rounds):
        bare_rates.append(bare(cluster, bench.folder, bench.arguments.seconds))
        for (name, mode), results in rows.items():
            server, port = subjects[name]
            run = "known" if mode == "replay" else None
            results.append(bench.load(server, port, mode, connections, run=run)["rate"])
    print(f"\nPostgreSQL, {connections} connections, median of {bench.arguments.rounds} rounds (ratios within each round)")
    print(f"{'':24} {'req/s':>9} {'to node':>8} {'to sqlite':>10} {'to bare':>8}")
    print(f"{'bare INSERT and UPDATE':24} {statistics.median(bare_rates):9.0f}")
    for (name, mode), rates in rows.items():
        to_node, to_sqlite = (
            statistics.median(r / n for r, n in zip(rates, rows[other, mode])) for other in ("node", "sqlite")
        )
        to_bare = f"{statistics.median(r / b for r, b in zip(rates, bare_rates)):8.2f}" if mode == "fresh" else ""
        title = f"{name}, {'first-time' if mode == 'fresh' else 'replay'}"
        print(f"{title:24} {statistics.median(rates):9.0f} {to_node:8.2f} {to_sqlite:10.2f} {to_bare}")


def filled(bench, cluster, upstream_port, empty):
    count = bench.arguments.postgres_filled
    cluster.create_database("filled")
    full, full_port = bench.stet(upstream_port, cluster.url("filled"))  # makes the schema
    print(f"\nfilling PostgreSQL with {count} completed operations", file=sys.stderr, flush=True)
    cluster.execute(FILL, {"count": count}, database="filled")
    cluster.execute("VACUUM ANALYZE", database="filled")
    server, port = empty
    for mode in ("fresh", "replay"):
        run = "known" if mode == "replay" else None
        bench.load(full, full_port, "replay", 8, seconds=2, run="known")
        ratios = []
        for _ in range(bench.arguments.rounds):
            base = bench.load(server, port, mode, 64, run=run)
            ratios.append(bench.load(full, full_port, mode, 64, run=run)["rate"] / base["rate"])
        print(f"{mode} at 64 connections with {count} completed operations, as a ratio to empty: {statistics.median(ratios):.2f}")
    bench.stop(full)
