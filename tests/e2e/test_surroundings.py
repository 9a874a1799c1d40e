"""What stands around the gateway: pipes that break, names and links of one file, addresses of both families, a full backlog."""

import json
import os
import signal
import socket
import subprocess
import time

import pytest
from support.http_client import Client
from support.processes import BINARY, Process, run_stet
from support.upstream import wait_until

AUTH = {"Authorization": "Bearer alice"}


def serve(upstream_url, store, *more, **popen):
    command = [BINARY, "serve", "--upstream", upstream_url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
               "--store", f"sqlite:{store}", *more]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **popen)


def address_in(line):
    host, port = json.loads(line)["listen"].removeprefix("http://").rsplit(":", 1)
    return host.strip("[]"), int(port)


def test_a_broken_log_pipe_stops_nothing(upstream, tmp_path, key):
    child = serve(upstream.url, tmp_path / "s.db")
    try:
        line = b""
        while b'"ready"' not in line:
            line = child.stderr.readline()
        child.stderr.close()
        client = Client(address_in(line), AUTH)
        for i in range(50):
            assert client.post(key=f"{key}-{i}").status == 201
        assert client.post(key=f"{key}-0").outcome == "replayed"
        child.send_signal(signal.SIGTERM)
        assert child.wait(10) == 0
    finally:
        child.kill()
        child.wait()


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_one_file_under_another_name_is_still_held(gateway, upstream, tmp_path, key, link):
    assert gateway.client(AUTH).post(key=key).status == 201
    link(gateway.store_path, tmp_path / "other-name.db")
    done = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                    "--store", f"sqlite:{tmp_path}/other-name.db", timeout=20)
    assert done.returncode == 3, done.stderr
    assert gateway.client(AUTH).post(key=key).outcome == "replayed"


def test_a_relative_path_is_below_the_directory_it_was_started_in(upstream, tmp_path, key):
    process = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"], cwd=tmp_path)
    try:
        address = process.wait_for_line(lambda line: address_in(line) if '"ready"' in line else None)
        assert Client(address, AUTH).post(key=key).status == 201
        assert (tmp_path / "stet.db").exists()
    finally:
        process.end()


def test_sighup_without_a_file_changes_nothing(upstream, tmp_path, key):
    process = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                       "--store", f"sqlite:{tmp_path}/s.db"])
    try:
        address = process.wait_for_line(lambda line: address_in(line) if '"ready"' in line else None)
        for _ in range(3):
            process.signal(signal.SIGHUP)
            time.sleep(0.1)
        assert Client(address, AUTH).post(key=key).status == 201
    finally:
        process.end()


def test_sigint_drains_like_sigterm(gateway, key):
    assert gateway.client(AUTH).post(key=key).status == 201
    gateway.process.signal(signal.SIGINT)
    assert gateway.process.wait() == 0


# ---- addresses ----


def has_ipv6():
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


needs_ipv6 = pytest.mark.skipif(not has_ipv6(), reason="no IPv6 on the loopback interface")


@needs_ipv6
def test_ipv6_listeners(upstream, tmp_path, key):
    process = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "[::1]:0", "--admin", "[::1]:0",
                       "--store", f"sqlite:{tmp_path}/s.db"])
    try:
        address = process.wait_for_line(lambda line: address_in(line) if '"ready"' in line else None)
        client = Client(address, AUTH)
        assert client.post(key=key).outcome == "completed" and client.post(key=key).outcome == "replayed"
        got = upstream.seen[0]
        assert got.header("X-Forwarded-For") == "::1"
        assert 'for="[::1]"' in got.header("Forwarded").lower().replace(" ", "")
    finally:
        process.end()


def test_a_name_whose_first_address_refuses_is_tried_at_the_next(start_gateway, upstream, key):
    try:
        socket.getaddrinfo("localhost", upstream.port)
    except OSError:
        pytest.skip("localhost has no address here (no /etc/hosts)")
    client = start_gateway(upstream_url=f"http://localhost:{upstream.port}").client(AUTH)
    assert client.post(key=key).outcome == "completed"
    assert client.post(key=key).outcome == "replayed"


def test_an_upstream_that_accepts_no_connection_in_time_is_unreachable(start_gateway, key):
    """A full backlog: the handshake never ends, so not a byte was sent."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        address = listener.getsockname()
        fillers = []
        for _ in range(4):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(address)
            fillers.append(filler)
        time.sleep(0.2)
        client = start_gateway(upstream_url="http://127.0.0.1:%d" % address[1]).client(AUTH)
        answer = client.post(key=key, timeout=20)
        assert answer.problem == "upstream-unreachable" and answer.outcome == "not-executed", answer
        for filler in fillers:
            filler.close()


def test_an_upstream_that_accepts_and_says_nothing_at_all(start_gateway, key):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        gateway = start_gateway('[defaults]\nresponse_timeout = "300ms"\ncompletion_timeout = "2s"\n',
                                upstream_url="http://127.0.0.1:%d" % listener.getsockname()[1])
        client = gateway.client(AUTH)
        assert client.post(key=key).problem == "still-running"
        wait_until(lambda: client.post(key=key).problem == "outcome-unknown")


def test_two_gateways_in_a_row_are_one_operation(start_gateway, upstream, key):
    """Two gateways in a row, each with a store of its own: one effect, and replays from the first."""
    inner = start_gateway()
    outer = start_gateway(upstream_url="http://%s:%d" % inner.address)
    client = outer.client(AUTH)
    first, again = client.post(key=key), client.post(key=key)
    assert (first.outcome, again.outcome) == ("completed", "replayed") and first.body == again.body
    assert len(upstream.effects) == 1
    assert upstream.seen[0].header("Via") == "1.1 stet, 1.1 stet" or upstream.seen[0].all("Via") == ["1.1 stet", "1.1 stet"]
