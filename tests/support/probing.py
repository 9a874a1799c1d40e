"""`stet probe` against something, and what it found."""

import json
import pathlib

from support.ports import free_port
from support.processes import run_stet

SERVERS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "servers"


class Verdict:
    def __init__(self, run):
        assert run.returncode in (0, 1, 3), f"{run.returncode}: {run.stdout}{run.stderr}"
        self.exit_code = run.returncode
        self.report = json.loads(run.stdout)
        self.checks = {check["check"]: check for check in self.report["checks"]}

    def named(self, result):
        return {name for name, check in self.checks.items() if check["result"] == result}

    @property
    def failed(self):
        return self.named("fail")

    def __repr__(self):  # also what a failed assertion shows
        seen = [f"{check['result']} {name}: {check['saw']}" for name, check in self.checks.items()]
        return "\n".join([self.report["verdict"], *seen])


def probe(*arguments, timeout=300, **more):
    return Verdict(run_stet("probe", *arguments, "--format", "json", timeout=timeout, **more))


def probe_server(name, directory, *arguments, provider=False, seconds=0.05, rounds=8):
    """One of examples/servers, with everything that the probe can use, killing included."""
    port = free_port()
    if provider:
        effects = ["--effects-sink", "127.0.0.1:0"]
        calls = ' --provider "$STET_PROBE_SINK"'
    else:
        effects = ["--effects", "GET /charges", "--count", "/data"]
        calls = ""
    server = f"exec python3 {SERVERS / name}.py --port {port} --db {directory}/{name}-{port}.db{calls}"
    return probe(
        "POST", f"http://127.0.0.1:{port}/charges", "-d", '{"amount":4900,"note":"{{uuid}}"}', *effects,
        "-H", "Authorization: Bearer a", "--other-auth", "Authorization: Bearer b", "--other", "POST /refunds",
        "--bad-body", '{"amount":-1}', "--exec", server, "--rounds", str(rounds), "--patience", "2s", "--settle",
        f"{int(seconds * 1000)}ms", *arguments,
    )
