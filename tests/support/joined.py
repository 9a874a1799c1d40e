"""The services of examples/joined: a database with their table and the schema, and each service as a process."""

import fcntl
import json
import os
import pathlib
import shutil
import subprocess
import time
import urllib.request

import pytest
from support.ports import free_port
from support.processes import BINARY, ROOT, START_SECONDS, Process

EXAMPLES = ROOT / "examples" / "joined"
LANGUAGES = ("node", "python", "cpp")
MODES = ("behind_gateway", "alone")
BUILT = pathlib.Path(BINARY).parents[2] / "examples" / "joined" / "cpp"
ROUTE = '[[route]]\nmatch = "POST /charges"\nkey = "required"\nupstream_joins = true\n'


def command(language, mode):
    if language == "node":
        install()
        return ["node", str(EXAMPLES / "node" / f"{mode}.js")]
    if language == "python":
        return ["/usr/bin/python3", str(EXAMPLES / "python" / f"{mode}.py")]
    return [str(BUILT / f"joined_{mode}")]


def install():
    """`npm ci`, unless what the lock file names is there."""
    directory = EXAMPLES / "node"
    if shutil.which("npm") is None:
        pytest.skip("node and npm are not installed")
    with open(directory / "package.json") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        installed, wanted = directory / "node_modules" / ".package-lock.json", directory / "package-lock.json"
        if not installed.exists() or installed.stat().st_mtime < wanted.stat().st_mtime:
            done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund"], cwd=directory, capture_output=True, text=True, timeout=120)
            assert done.returncode == 0, done.stdout + done.stderr
            installed.touch()


def prepare(on, database):
    """The services' table; the database's URL."""
    done = on.psql((EXAMPLES / "charges.sql").read_text(), database)
    assert done.returncode == 0, done.stderr
    return on.url(database)


class Service:
    """One of them on a port that stays the same when it is started again."""

    def __init__(self, language, mode, database_url):
        self.port = free_port()
        self.address = ("127.0.0.1", self.port)
        self.url = f"http://127.0.0.1:{self.port}"
        self.command = command(language, mode)
        self.environment = {"PORT": str(self.port), "DATABASE_URL": database_url}
        self.process = None

    def start(self, within=START_SECONDS):
        self.process = Process(self.command, self.environment)
        end = time.monotonic() + within
        while True:
            try:
                self.charges()
                return self
            except OSError:
                assert self.process.is_running() and time.monotonic() < end, self.process.output()
                time.sleep(0.02)

    restart = start

    def charges(self):
        with urllib.request.urlopen(f"{self.url}/charges", timeout=5) as answer:
            return json.load(answer)["data"]

    def kill(self):
        self.process.kill()

    def end(self):
        if self.process is not None:
            self.process.end()

    def in_shell(self):
        """As a line for a shell."""
        words = [f"{name}='{value}'" for name, value in self.environment.items()] + [f"'{word}'" for word in self.command]
        return " ".join(words)

    def hooks(self, directory):
        """(kill, start): shell commands for the probe, which start it without being its parent."""
        directory = pathlib.Path(directory)
        (directory / "start.sh").write_text(
            f"#!/bin/sh\nexport {self.in_shell().rsplit(' ', len(self.command))[0]}\n"
            f"setsid sh -c 'echo $$ >\"$0\"; exec \"$@\"' '{directory}/pid' {' '.join(self.command)} >>'{directory}/service.log' 2>&1 </dev/null &\n"
            f"for i in $(seq 200); do curl -sf -o /dev/null {self.url}/charges && exit 0; sleep 0.05; done; exit 1\n")
        os.chmod(directory / "start.sh", 0o755)
        return f"kill -9 $(cat '{directory}/pid')", f"'{directory}/start.sh'"
