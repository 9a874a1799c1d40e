#!/usr/bin/env python3
"""Probes each middleware of this directory on a Redis of its own, and prints what was found as a Markdown table.

    npm ci && python3 probe_all.py [path of stet]       # needs node, redis-server (Debian: redis-server)

More flags of `stet probe` may follow the path: python3 probe_all.py ../../build/dev/apps/stet/stet --rounds 5
"""

import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
SERVERS = {
    "express-idempotency": ("express_idempotency.js", ["express-idempotency", "express-idempotency-redis-adapter", "express"]),
    "@node-idempotency/nestjs": (
        "node_idempotency_nestjs.js",
        ["@node-idempotency/nestjs", "@node-idempotency/core", "@node-idempotency/storage-adapter-redis", "@nestjs/core"],
    ),
}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def version(package):
    return json.loads((HERE / "node_modules" / package / "package.json").read_text())["version"]


def probe(stet, script, redis_port, more):
    port = free_port()
    command = [
        stet, "probe", "POST", f"http://127.0.0.1:{port}/charges", "-d", '{"amount":4900,"note":"{{uuid}}"}',
        "-H", "Authorization: Bearer a", "--other-auth", "Authorization: Bearer b", "--other", "POST /refunds",
        "--bad-body", '{"amount":-1}', "--effects", "GET /charges", "--count", "/count", "--patience", "10s",
        "--exec", f"exec node {HERE / script} {port} redis://127.0.0.1:{redis_port}", "--format", "json", *more,
    ]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode not in (0, 1):
        sys.exit(f"{script}: no verdict\n{run.stdout}{run.stderr}")
    return json.loads(run.stdout)


def main():
    stet = sys.argv[1] if len(sys.argv) > 1 else str(HERE.parents[1] / "build/release/stet")
    reports = {}
    for name, (script, _) in SERVERS.items():
        with tempfile.TemporaryDirectory() as directory:
            redis_port = free_port()
            redis = subprocess.Popen(
                ["redis-server", "--port", str(redis_port), "--bind", "127.0.0.1", "--save", "", "--dir", directory],
                stdout=subprocess.DEVNULL,
            )
            try:
                time.sleep(0.5)
                reports[name] = probe(stet, script, redis_port, sys.argv[2:])
            finally:
                redis.kill()
                redis.wait()
    for name, (_, packages) in SERVERS.items():
        print(f"- {name}: " + ", ".join(f"{package} {version(package)}" for package in packages))
    print("\n| check | " + " | ".join(SERVERS) + " |\n| --- |" + " --- |" * len(SERVERS))
    for index, check in enumerate(next(iter(reports.values()))["checks"]):
        results = [report["checks"][index]["result"] for report in reports.values()]
        print(f"| {check['check']} | " + " | ".join(f"**{r}**" if r == "fail" else r for r in results) + " |")
    for name, report in reports.items():
        print(f"\n{name}: {report['verdict']}")
        for check in report["checks"]:
            if check["result"] in ("fail", "warn"):
                print(f"- {check['check']}: {check['saw']}")


if __name__ == "__main__":
    main()
