"""The process: ready line, exit codes, configuration, reload, drain, health, logs (docs/cli.md)."""

import json
import os
import re
import signal
import socket
import time

import pytest
from support.concurrently import background
from support.http_client import Client, Closed, Connection, wire
from support.one_thread import standing_still, threads
from support.processes import BINARY, Process, run_stet
from support.stores import about_one_process, about_sqlite
from support.upstream import Gate, wait_until

AUTH = {"Authorization": "Bearer alice"}


def config_file(tmp_path, text):
    file = tmp_path / "stet.toml"
    file.write_text(text)
    return str(file)


# ---- starting ----


@about_one_process("a process's log")
def test_the_ready_line_names_the_addresses_and_port_0_picks_one(gateway):
    ready = gateway.events("ready")
    assert len(ready) == 1
    assert gateway.address[1] != 0 and gateway.admin_address[1] not in (0, gateway.address[1])


def test_the_log_for_people_says_once_what_happens(tmp_path, upstream):
    process = Process([BINARY, "serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                       "--store", f"sqlite:{tmp_path}/a.db", "--log", "text"])
    try:
        line = process.wait_for_line(lambda line: line if " ready: " in line else None)
        assert re.search(rf"Z ready: http://127\.0\.0\.1:\d+ in front of {upstream.url} listen=", line), line
        assert process.stop() == 0
        assert process.output().splitlines()[-1].endswith("Z stopped: the process ends"), process.output()
    finally:
        process.end()


def test_flags_beat_the_environment_which_beats_the_file(tmp_path, upstream, make_upstream):
    others = [make_upstream(), make_upstream()]
    file = config_file(tmp_path, f'upstream = "{others[0].url}"\nlisten = "127.0.0.1:0"\nadmin = "127.0.0.1:0"\n'
                                 f'store = "sqlite:{tmp_path}/a.db"\n')

    def reached(arguments, environment):
        process = Process([BINARY, "serve", "--config", file, *arguments], environment)
        try:
            ready = process.wait_for_line(lambda line: json.loads(line) if '"ready"' in line else None)
            host, port = ready["listen"].removeprefix("http://").rsplit(":", 1)
            counts = [len(s.seen) for s in (others[0], others[1], upstream)]
            assert Client((host, int(port))).get("/x").status == 201
            after = [len(s.seen) for s in (others[0], others[1], upstream)]
            return [b - a for a, b in zip(counts, after)]
        finally:
            process.end()

    assert reached([], {}) == [1, 0, 0]
    assert reached([], {"STET_UPSTREAM": others[1].url}) == [0, 1, 0]
    assert reached(["--upstream", upstream.url], {"STET_UPSTREAM": others[1].url}) == [0, 0, 1]
    assert reached(["--set", f'upstream="{upstream.url}"'], {}) == [0, 0, 1]


def test_the_environment_alone_is_enough(tmp_path, upstream):
    process = Process([BINARY, "serve"], {
        "STET_LISTEN": "127.0.0.1:0", "STET_ADMIN": "127.0.0.1:0", "STET_UPSTREAM": upstream.url, "STET_LOG": "json",
        "STET_STORE": f"sqlite:{tmp_path}/env.db"}, tmp_path)
    try:
        ready = process.wait_for_line(lambda line: json.loads(line) if '"ready"' in line else None)
        host, port = ready["listen"].removeprefix("http://").rsplit(":", 1)
        assert Client((host, int(port)), AUTH).post(key="k").status == 201
        assert (tmp_path / "env.db").exists()
        assert process.stop() == 0
    finally:
        process.end()


def test_weaker_durability_is_said_at_start(start_gateway, upstream, key):
    gateway = start_gateway('store_options.durability = "os"\n')
    assert gateway.client(AUTH).post(key=key).status == 201
    assert any("durability" in line or "power" in line for line in gateway.process.lines), gateway.output()
    gateway.kill()  # a crash of the process is what it survives
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).outcome == "replayed"


def test_without_an_upstream_serve_says_so_and_exits_2(tmp_path):
    done = run_stet("serve", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", cwd=tmp_path)
    assert done.returncode == 2 and "upstream" in done.stderr


def test_a_taken_port_is_exit_3(tmp_path, upstream):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = run_stet("serve", "--upstream", upstream.url, "--listen", f"127.0.0.1:{taken.getsockname()[1]}",
                        "--admin", "127.0.0.1:0", "--store", f"sqlite:{tmp_path}/s.db")
    assert done.returncode == 3
    assert done.stderr.strip()


@about_sqlite("a file is one process's")
def test_a_second_gateway_on_one_store_is_exit_3_with_a_clear_word(gateway, upstream):
    done = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                    "--store", gateway.store)
    assert done.returncode == 3
    assert "stet.db" in done.stderr


def test_a_store_in_a_directory_that_is_not_there_is_exit_3(tmp_path, upstream):
    done = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                    "--store", f"sqlite:{tmp_path}/missing/s.db")
    assert done.returncode == 3 and "missing" in done.stderr


@pytest.mark.parametrize("arguments", [["serve", "--nonsense"], ["nonsense"], [], ["serve", "--listen", "nowhere"],
                                       ["serve", "--set", "no.such.key=1", "--upstream", "http://127.0.0.1:1"]])
def test_wrong_usage_is_exit_2(tmp_path, arguments):
    done = run_stet(*arguments, cwd=tmp_path)
    assert done.returncode == 2 and done.stderr.strip() + done.stdout.strip()


@pytest.mark.parametrize("command", [[], ["serve"], ["check-config"], ["keys"], ["demo-api"]])
def test_help_has_an_example(command):
    done = run_stet(*command, "--help")
    assert done.returncode == 0
    assert "stet " in done.stdout


def test_help_of_the_demo_names_its_faults():
    assert "lose-answer" in run_stet("demo-api", "--help").stdout


# ---- check-config ----


def test_check_config_accepts_what_is_right(tmp_path):
    done = run_stet("check-config", config_file(tmp_path, 'upstream = "http://127.0.0.1:3000"\n[[route]]\nmatch = "POST /charges"\n'))
    assert done.returncode == 0, done.stdout + done.stderr


def test_check_config_says_every_mistake_at_once_with_its_place(tmp_path):
    file = config_file(tmp_path, '\n'.join([
        'upstream = "http://127.0.0.1:3000"',    # 1
        'lsten = "127.0.0.1:1"',                 # 2  an unknown key
        '[defaults]',                            # 3
        'retention = 24',                        # 4  no unit
        'wait = "10 lightyears"',                # 5  a wrong unit
        'in_progress = "wiat"',                  # 6  a wrong word
        '[[route]]',                             # 7
        'match = "POST charges"',                # 8  no path
        'kye = "required"',                      # 9  an unknown key
        '[[route]]',                             # 10
        'match = "POST /a/**"',                  # 11
        '[[route]]',                             # 12
        'match = "POST /a/b"',                   # 13 can never match
        '']))
    done = run_stet("check-config", file)
    said = done.stdout + done.stderr
    assert done.returncode == 2
    for line in (2, 4, 5, 6, 8, 9, 13):
        assert f"stet.toml:{line}:" in said, f"nothing about line {line}:\n{said}"
    assert "listen" in said and "key" in said and "wait" in said  # what was meant


def test_check_config_of_broken_toml_names_the_place(tmp_path):
    done = run_stet("check-config", config_file(tmp_path, 'upstream = "http://127.0.0.1:3000"\nlisten = \n'))
    assert done.returncode == 2 and "stet.toml:2:" in done.stdout + done.stderr


def test_check_config_of_a_missing_file_is_exit_2(tmp_path):
    assert run_stet("check-config", str(tmp_path / "no.toml")).returncode == 2


@pytest.mark.parametrize("line", [
    'listen = "127.0.0.1:99999"', 'upstream = "ftp://x"', 'upstream = "127.0.0.1:3000"', 'store = "mysql:x"', 'log.format = "xml"',
    'defaults.key = "sometimes"', 'defaults.scope = ["everyone"]', 'defaults.on_unknown = "ask"', 'defaults.lease = "0s"',
    'defaults.record = [99]', 'defaults.release = ["6xx"]', 'defaults.fingerprint.ignore = ["no-slash"]',
    'defaults.status.in_progress = 42', 'defaults.scope = ["jwt:sub"]', 'defaults.scope = ["auth"]',
    'defaults.key_from = "json:no-slash"', 'store_options.encryption_key = "env:NOT_SET_ANYWHERE"', 'drain = "-1s"',
    'limits.connections = 0', 'defaults.max_request_body = "1 MB"', 'defaults.upstream_joins = true',
])
def test_a_configuration_is_refused_that_says(tmp_path, line):
    upstream_line = "" if line.startswith("upstream") else 'upstream = "http://127.0.0.1:3000"\n'
    done = run_stet("check-config", config_file(tmp_path, upstream_line + line + "\n"))
    assert done.returncode == 2, done.stdout + done.stderr
    assert "stet.toml:" in done.stdout + done.stderr


def test_a_secret_in_plain_text_in_a_world_readable_file_is_a_warning(tmp_path):
    file = config_file(tmp_path, 'upstream = "http://127.0.0.1:3000"\nadmin_token = "hunter2"\n')
    os.chmod(file, 0o644)
    done = run_stet("check-config", file)
    assert "stet.toml:2:" in done.stdout + done.stderr
    assert "hunter2" not in done.stdout + done.stderr


# ---- reload ----


def test_sighup_takes_a_new_configuration_and_loses_no_connection(start_gateway, upstream, key):
    gateway = start_gateway()
    with Connection(gateway.address) as connection:
        connection.send(wire("POST", "/charges", AUTH, b"x"))
        assert connection.read_answer().status == 201
        gateway.reload('[[route]]\nmatch = "POST /charges"\nkey = "required"\n')
        connection.send(wire("POST", "/charges", AUTH, b"x"))
        assert connection.read_answer().problem == "key-missing"


def test_a_bad_file_keeps_the_old_configuration_and_says_so(start_gateway, upstream):
    gateway = start_gateway('[[route]]\nmatch = "POST /charges"\nkey = "required"\n')
    event = gateway.reload('[[route]]\nmatch = "POST /charges"\nkey = "sometimes"\n')
    assert event.get("level") in ("error", "warning"), event
    assert "sometimes" in json.dumps(event) or "stet.toml" in json.dumps(event)
    assert gateway.client(AUTH).post().problem == "key-missing"
    gateway.reload("")
    assert gateway.client(AUTH).post().status == 201


@about_one_process("a process's log")
def test_a_reload_says_what_waits_for_a_restart(start_gateway, upstream):
    gateway = start_gateway()
    gateway.reload('store_options.free_space_floor = "2MiB"\n')
    (event,) = gateway.events("reload-needs-restart")
    assert "store_options" in json.dumps(event)


@about_one_process("a process's threads")
def test_a_reload_is_said_to_be_in_use_once_every_worker_uses_it(start_gateway, upstream):
    gateway = start_gateway()
    gateway.write_config('[[route]]\nmatch = "POST /charges"\nkey = "required"\n')
    with standing_still(threads(gateway.process.pid, "stet-worker")[-1]):
        gateway.process.signal(signal.SIGHUP)
        time.sleep(0.5)
        assert gateway.reload_events() == []
    wait_until(gateway.reload_events)
    assert gateway.client(AUTH).post().problem == "key-missing"


def test_a_running_operation_survives_a_reload(start_gateway, upstream, key):
    gateway = start_gateway()
    client = gateway.client(AUTH)
    first, gate = upstream.hold(client.post, key=key)
    gateway.reload('[[route]]\nmatch = "POST /other"\nkey = "required"\n')
    gate.open()
    assert first.result().status == 201
    assert client.post(key=key).outcome == "replayed"


# ---- drain ----


@about_one_process("a process's life")
def test_sigterm_finishes_what_runs_and_exits_0(start_gateway, upstream, key):
    gateway = start_gateway()
    first, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    gateway.process.signal(signal.SIGTERM)
    time.sleep(0.3)
    assert gateway.process.is_running()
    gate.open()
    assert first.result().status == 201
    assert gateway.process.wait() == 0
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).outcome == "replayed"


@about_one_process("a process's life")
def test_a_drain_waits_for_detached_operations_too(start_gateway, upstream, key):
    gateway = start_gateway()
    gate = Gate()
    upstream.plan(gate)
    with Connection(gateway.address) as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        assert gate.entered.wait(20)
        connection.reset()
    gateway.process.signal(signal.SIGTERM)
    time.sleep(0.3)
    assert gateway.process.is_running()
    gate.open()
    assert gateway.process.wait() == 0
    gateway.restart()
    assert gateway.client(AUTH).post(key=key, body=b"x").outcome == "replayed"
    assert len(upstream.seen) == 1


@about_one_process("a process's life")
def test_a_drain_accepts_no_new_connections_and_is_not_ready(start_gateway, upstream, key):
    gateway = start_gateway()
    first, gate = upstream.hold(gateway.client(AUTH).post, key=key)
    assert gateway.admin("GET", "/readyz").status == 200
    gateway.process.signal(signal.SIGTERM)
    wait_until(lambda: gateway.admin("GET", "/readyz").status == 503)
    assert gateway.admin("GET", "/livez").status == 200

    def lets_nobody_in():
        try:
            gateway.client(AUTH).get("/x", timeout=5)
            return False
        except (OSError, Closed):
            return True

    wait_until(lets_nobody_in)  # it says first that it is not ready
    assert lets_nobody_in() and gateway.process.is_running()
    gate.open()
    assert first.result().status == 201
    assert gateway.process.wait() == 0


def test_a_drain_lasts_no_longer_than_drain(start_gateway, upstream, key):
    gateway = start_gateway('drain = "500ms"\n')
    upstream.plan(Gate())
    background(gateway.client(AUTH).post, key=key)
    upstream.wait_for(1)
    began = time.monotonic()
    assert gateway.stop() == 0
    assert time.monotonic() - began < 15
    gateway.restart()
    assert gateway.client(AUTH).post(key=key).outcome == "unknown"
    assert len(upstream.seen) == 1


def test_an_idle_gateway_ends_at_once(gateway):
    with Connection(gateway.address):
        began = time.monotonic()
        assert gateway.stop() == 0
        assert time.monotonic() - began < 15  # what runs would have 45


# ---- health and logs ----


def test_health(gateway):
    assert gateway.admin("GET", "/livez").status == 200
    assert gateway.admin("GET", "/readyz").status == 200
    assert gateway.admin("GET", "/nothing").status == 404


def test_each_request_is_one_line_of_json_without_secrets(gateway, upstream):
    client = gateway.client({"Authorization": "Bearer topsecret"})
    client.post("/charges?token=querysecret", key="keysecret-0123456789", json_body={"pin": "bodysecret"})
    wait_until(lambda: any("/charges" in line for line in gateway.process.lines))
    lines = [e for e in gateway.log() if e.get("path") == "/charges"]
    assert len(lines) == 1
    text = gateway.process.output()
    for secret in ("topsecret", "querysecret", "keysecret-0123456789", "bodysecret"):
        assert secret not in text, secret
    assert lines[0]["status"] == 201 and lines[0]["outcome"] == "completed"


def test_log_keys_full_shows_them_on_purpose(start_gateway, upstream, key):
    gateway = start_gateway('log.keys = "full"\n')
    gateway.client(AUTH).post(key=key)
    wait_until(lambda: any(key in line for line in gateway.process.lines))


@pytest.mark.parametrize("format_", ["text", "off"])
def test_other_log_formats_serve_too(start_gateway, upstream, key, format_):
    gateway = start_gateway(arguments=["--log", format_], launch_only=True)
    if format_ == "text":
        gateway.process.wait_for_line(lambda line: "127.0.0.1:" in line)
        assert not any(line.startswith("{") for line in gateway.process.lines)
    else:
        time.sleep(0.5)
        assert gateway.process.is_running()


def test_metrics_are_prometheus_text_and_count(gateway, upstream, key):
    client = gateway.client(AUTH)
    for _ in range(3):
        client.post(key=key)
    answer = gateway.admin("GET", "/metrics")
    assert answer.header("Content-Type").startswith("text/plain")
    text = answer.body.decode()
    names = {line.split("{")[0].split(" ")[0] for line in text.splitlines() if line and not line.startswith("#")}
    assert names and all(n.startswith("stet_") for n in names), names
    assert "# TYPE stet_" in text and "# HELP stet_" in text
    values = gateway.metrics()
    assert sum(v for n, v in values.items() if "replayed" in n) == 2, sorted(values)
