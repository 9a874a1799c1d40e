"""A probe that is told to end: it says so, ends with status 3, and takes along what it has started."""

import json
import pathlib
import shlex
import signal
import socket
import subprocess
import time

import pytest
from support.ports import free_port
from support.processes import BINARY, START_SECONDS
from support.upstream import wait_until

SERVERS = pathlib.Path(__file__).resolve().parents[2] / "examples" / "servers"


def listens(port):
    with socket.socket() as caller:
        return caller.connect_ex(("127.0.0.1", port)) == 0


class Running:
    """`stet probe` at work on a server, for as long as the test wants."""

    def __init__(self, directory, started_by):
        self.port = free_port()
        self.server = f"python3 {SERVERS / 'right.py'} --port {self.port} --db {directory}/{self.port}.db"
        self.child = subprocess.Popen(
            [BINARY, "probe", "POST", f"http://127.0.0.1:{self.port}/charges", "-d", '{"amount":1}', "--effects", "GET /charges",
             "--count", "/data", "--rounds", "10000", "--format", "json", *started_by(self.server)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wait_until(lambda: listens(self.port), START_SECONDS, lambda: "the server did not start")

    def ends_by(self, number, within=20):
        self.child.send_signal(number)
        out, err = self.child.communicate(timeout=within)
        return self.child.returncode, out, err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP], ids=lambda number: number.name)
@pytest.mark.parametrize("shape", ["exec {0}", "{0}; true", "true && {0} & wait", "trap '' TERM; {0}; true"])
def test_it_leaves_no_server_behind(tmp_path, number, shape):
    """The server is the command's own process, or a child of its shell, or one that outlives its shell."""
    probe = Running(tmp_path, lambda server: ["--exec", shape.format(server)])
    time.sleep(0.3)  # in the midst of the checks, more likely than not
    status, out, err = probe.ends_by(number)
    assert not listens(probe.port), "the server is still there"
    assert status == 3, err
    assert json.loads(out)["verdict"] == f"No verdict: {number.name} ended the run before the checks had ended", out


def test_a_server_that_waits_for_nobody_is_ended_too(tmp_path):
    """One that takes no notice of SIGTERM, below a shell that does."""
    deaf = "import signal, sys; signal.signal(signal.SIGTERM, signal.SIG_IGN); sys.argv.pop(0); "
    deaf += "sys.path.insert(0, sys.argv[0].rpartition('/')[0]); exec(open(sys.argv[0]).read())"
    probe = Running(tmp_path, lambda server: ["--exec", server.replace("python3", f"python3 -c {shlex.quote(deaf)}") + "; true"])
    status, _, err = probe.ends_by(signal.SIGTERM)
    assert status == 3 and not listens(probe.port), err


def test_a_suite_is_not_gone_on_with(tmp_path):
    suite = tmp_path / "suite.toml"
    port = free_port()
    with socket.create_server(("127.0.0.1", port)) as silent:
        suite.write_text("".join(f'[[api]]\nname = "{name}"\nrequest = "POST http://127.0.0.1:{port}/"\nbody = "{{}}"\n'
                                 for name in ("first", "second")))
        child = subprocess.Popen([BINARY, "probe", "--suite", str(suite), "--format", "json"], stdout=subprocess.PIPE, text=True)
        connection, _ = silent.accept()
        child.send_signal(signal.SIGTERM)
        out, _ = child.communicate(timeout=20)
        connection.close()
    assert child.returncode == 3 and json.loads(out)["target"] == "first", out


def test_the_users_own_server_is_left_running(tmp_path):
    """--kill and --start are for a server that was there before the probe: it is there afterwards."""
    pid = tmp_path / "pid"
    start = f"sh -c 'echo $$ >{pid}; exec {{0}}' >/dev/null 2>&1 &"
    kill = f"kill -9 $(cat {pid})"

    def started_by(server):
        subprocess.run(["sh", "-c", start.format(server)], check=True)
        wait_until(lambda: listens(int(server.split("--port ")[1].split()[0])), START_SECONDS, lambda: "the server did not start")
        return ["--kill", kill, "--start", start.format(server), "--check", "kill"]

    probe = Running(tmp_path, started_by)
    try:
        time.sleep(1)
        status, _, err = probe.ends_by(signal.SIGTERM)
        assert status == 3, err
        wait_until(lambda: listens(probe.port), START_SECONDS, lambda: "the server did not come back")
    finally:
        subprocess.run(["sh", "-c", kill], check=False)
