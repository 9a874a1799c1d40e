"""Disks: full, read-only, failing at fsync and at write (docs/guarantees.md; failures of the store)."""

import time

import pytest
from support.concurrently import background
from support.disk import FailingDisk, fill, small_disk
from support.http_client import Closed, Connection, wire
from support.processes import run_stet
from support.upstream import Gate, answers, wait_until

AUTH = {"Authorization": "Bearer alice"}
MIB = 1 << 20


@pytest.fixture
def on_small_disk(tmp_path, start_gateway):
    """A gateway with the store's default options on a disk of 24 MiB."""
    with small_disk(tmp_path / "disk", 24 * MIB) as disk:
        gateways = []

        def start(config=""):
            gateway = start_gateway('store_options.durability = "full"\n' + config, store=f"sqlite:{disk}/stet.db")
            gateways.append(gateway)
            gateway.disk = disk
            return gateway

        yield start
        for gateway in gateways:
            gateway.end()


def expect_unavailable(answer):
    assert answer.status == 503 and answer.problem == "store-unavailable", answer
    assert answer.header("Retry-After")
    assert answer.json()["retryable"] is True and answer.json()["new_key_safe"] is False
    assert answer.outcome == "unknown"


def test_claims_are_refused_before_the_disk_is_full_and_replays_go_on(on_small_disk, upstream, key):
    gateway = on_small_disk()
    client = gateway.client(AUTH)
    first = client.post(key=key)
    assert first.status == 201
    filler = fill(gateway.disk, leave=MIB // 2)
    wait_until(lambda: client.post(key=key + "x").status == 503, 10)
    seen = len(upstream.seen)
    expect_unavailable(client.post(key=key + "b"))
    assert len(upstream.seen) == seen, "a write was forwarded without a claim"
    again = client.post(key=key)
    assert (again.body, again.outcome) == (first.body, "replayed")
    filler.unlink()
    wait_until(lambda: client.post(key=key + "c").status == 201, 15)


def test_an_operation_that_runs_while_the_disk_fills_up_is_completed(on_small_disk, upstream, key):
    gateway = on_small_disk()
    client = gateway.client(AUTH)
    gate = Gate(answers(201, {}, b"y" * 200_000))
    upstream.plan(gate)
    first = background(client.post, key=key)
    assert gate.entered.wait(20)
    fill(gateway.disk)
    gate.open()
    first = first.result()
    assert first.status == 201 and first.outcome == "completed", first
    assert client.post(key=key).outcome == "replayed"
    gateway.kill()
    gateway.restart()
    again = gateway.client(AUTH).post(key=key)
    assert (again.status, again.body, again.outcome) == (201, first.body, "replayed")
    assert len(upstream.seen) == 1


def test_filling_up_and_being_freed_again_loses_nothing(on_small_disk, upstream, key):
    gateway = on_small_disk()
    client = gateway.client(AUTH)
    upstream.default = lambda request, wire: (wire.upstream.executed(request), wire.answer(201, {}, request.key.encode() * 3000))
    kept, refused = {}, set()
    for i in range(1500):
        answer = client.post(key=f"{key}-{i}")
        if answer.status == 201:
            kept[f"{key}-{i}"] = answer.body
        else:
            assert answer.status == 503 and answer.problem == "store-unavailable", answer
            refused.add(f"{key}-{i}")
            if len(refused) > 20:
                break
    assert refused, "24 MiB held everything"
    assert {r.key for r in upstream.seen} == set(kept)
    gateway.kill()
    gateway.restart()
    client = gateway.client(AUTH)
    for name in list(kept)[:: max(1, len(kept) // 50)]:
        again = client.post(key=name)
        assert (again.body, again.outcome) == (kept[name], "replayed")
    assert len(upstream.seen) == len(kept)


def test_on_store_failure_open_passes_what_was_certainly_not_claimed(on_small_disk, upstream, key):
    gateway = on_small_disk('[[route]]\nmatch = "POST /likes"\non_store_failure = "open"\n')
    client = gateway.client(AUTH)
    fill(gateway.disk, leave=MIB // 2)
    wait_until(lambda: client.post("/charges", key=key).status == 503, 10)
    seen = len(upstream.seen)
    answer = client.post("/likes", key=key)
    assert answer.status == 201 and answer.outcome == "unprotected"
    assert len(upstream.seen) == seen + 1
    expect_unavailable(client.post("/charges", key=key))
    assert len(upstream.seen) == seen + 1


def test_a_read_only_file_system_is_exit_3_with_a_clear_word(tmp_path, upstream):
    with small_disk(tmp_path / "disk", 8 * MIB, ",ro") as disk:
        done = run_stet("serve", "--upstream", upstream.url, "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0",
                        "--store", f"sqlite:{disk}/stet.db")
    assert done.returncode == 3
    assert "stet.db" in done.stderr or "read-only" in done.stderr.lower()


# ---- I/O errors ----


@pytest.fixture
def failing(tmp_path, start_gateway):
    disk = tmp_path / "disk"
    disk.mkdir()
    shim = FailingDisk(tmp_path, disk)
    gateway = start_gateway(environment=shim.environment, store=f"sqlite:{disk}/stet.db")
    gateway.shim = shim
    return gateway


def try_post(client, key):
    try:
        return client.post(key=key, timeout=5)
    except (OSError, Closed):
        return None


@pytest.mark.parametrize("what", ["sync", "write"])
def test_an_io_error_at_a_claim_ends_the_process_and_forwards_nothing(failing, upstream, key, what):
    client = failing.client(AUTH)
    first = client.post(key=key)
    failing.shim.fail(what)
    broken = try_post(client, key + "b")
    assert broken is None or broken.status >= 500, broken
    assert failing.process.wait() == 3
    # A line of the log that was being written in that moment may come after the last words.
    last = [line for line in failing.process.lines if line.strip()][-3:]
    assert any("stet.db" in line and "I/O" in line for line in last), last
    assert len(upstream.seen) == 1, "a write was forwarded whose claim may not be durable"
    failing.shim.heal()
    failing.restart()
    client = failing.client(AUTH)
    assert client.post(key=key).body == first.body
    # The claim that failed may be there or not; what it never was is executed.
    answer = client.post(key=key + "b")
    assert answer.status == 201 or answer.problem == "outcome-unknown", answer
    assert len(upstream.effects_of(key + "b")) == (1 if answer.status == 201 else 0)


@pytest.mark.parametrize("what", ["sync", "write"])
def test_an_io_error_at_a_completion_shows_nobody_an_answer_that_may_be_lost(failing, upstream, key, what):
    client = failing.client(AUTH)
    first, gate = upstream.hold(try_post, client, key)
    failing.shim.fail(what)
    gate.open()
    first = first.result()
    assert first is None or first.status >= 500, "an answer was acknowledged that was not durable"
    assert failing.process.wait() == 3
    failing.shim.heal()
    failing.restart()
    again = failing.client(AUTH).post(key=key)
    assert again.outcome in ("replayed", "unknown"), again
    assert len(upstream.seen) == 1


def test_acknowledged_answers_survive_what_a_failing_disk_did_around_them(failing, upstream, key):
    """Several clients while the disk begins to fail, again and again; after each restart every acknowledged answer is there."""
    acknowledged = {}
    for round_ in range(4):
        client = failing.client(AUTH)

        def load(worker):
            for i in range(200):
                name = f"{key}-{round_}-{worker}-{i}"
                answer = try_post(client, name)
                if answer is None:
                    return
                if answer.status == 201:
                    acknowledged[name] = answer.body

        before = len(acknowledged)
        calls = [background(load, w) for w in range(4)]
        wait_until(lambda: len(acknowledged) > before + 10)
        failing.shim.fail("sync" if round_ % 2 else "write")
        assert failing.process.wait() == 3
        for call in calls:
            call.result()
        failing.shim.heal()
        failing.restart()
        for name, body in acknowledged.items():
            again = failing.client(AUTH).post(key=name)
            assert (again.body, again.outcome) == (body, "replayed"), (name, again)
    assert len(acknowledged) > 20
    for name in {r.key for r in upstream.effects}:
        assert len(upstream.effects_of(name)) == 1, name


# ---- what is durable before what ----


def test_a_claim_is_durable_before_the_upstream_is_called_and_the_answer_before_the_caller_sees_it(failing, upstream, key):
    client = failing.client(AUTH)
    client.post(key=key + "warm")
    answered = []
    upstream.default = lambda request, wire: (answered.append(time.monotonic()), wire.answer(201, {}, b"x"))
    failing.shim.fail("slow-sync")  # each takes 0.3 s
    began = time.monotonic()
    assert client.post(key=key).status == 201
    ended = time.monotonic()
    assert upstream.seen[-1].at - began >= 0.29, "sent upstream before the claim was synced"
    assert ended - answered[-1] >= 0.29, "answered before the answer was synced"


def test_a_large_answer_is_durable_before_its_first_byte(failing, upstream, key):
    client = failing.client(AUTH)
    answered = []
    upstream.default = lambda request, wire: (answered.append(time.monotonic()), wire.answer(201, {}, b"x" * 3_000_000))
    failing.shim.fail("slow-sync")
    with Connection(failing.address) as connection:
        connection.send(wire("POST", "/charges", {**AUTH, "Idempotency-Key": key}, b"x"))
        connection.read_head()
        assert time.monotonic() - answered[-1] >= 0.29


def test_replays_and_refusals_wait_for_no_sync(failing, upstream, key):
    client = failing.client(AUTH)
    client.post(key=key)
    failing.shim.fail("slow-sync")
    began = time.monotonic()
    for _ in range(50):
        assert client.post(key=key).outcome == "replayed"
        assert client.post(key="a b").status == 400
    assert time.monotonic() - began < 7  # fifty syncs take fifteen


# ---- no room, and room again ----


def test_a_full_disk_at_a_claim_is_503_and_forwards_nothing(failing, upstream, key):
    client = failing.client(AUTH)
    first = client.post(key=key)
    failing.shim.fail("full")
    expect_unavailable(client.post(key=key + "b"))
    assert len(upstream.seen) == 1
    assert client.post(key=key).body == first.body
    assert failing.admin("GET", "/livez").status == 200
    failing.shim.heal()
    wait_until(lambda: client.post(key=key + "b").status == 201, 15)
    assert len(upstream.effects_of(key + "b")) == 1


def test_an_answer_that_cannot_be_stored_yet_is_504_and_is_stored_once_it_can(failing, upstream, key):
    client = failing.client(AUTH)
    first, gate = upstream.hold(client.post, key=key, timeout=60)
    failing.shim.fail("full")
    gate.open()
    time.sleep(0.5)
    # Nobody is shown an answer that is not durable.
    busy = client.post(key=key)
    assert busy.outcome in ("in-progress", "unknown") and busy.status in (409, 503, 504), busy
    failing.shim.heal()
    first = first.result(45)
    if first.status != 201:
        assert first.status == 504 and first.problem == "still-running" and first.outcome == "in-progress", first
    wait_until(lambda: client.post(key=key).status == 201, 20)
    assert client.post(key=key).outcome == "replayed"
    failing.kill()
    failing.restart()
    assert failing.client(AUTH).post(key=key).outcome == "replayed"
    assert len(upstream.seen) == 1


# ---- broken files ----


def damage_header(data):
    return b"this is no database".ljust(100, b"\0") + data[100:]


DAMAGE = {
    "a file of another kind": lambda data: b"hello, I am a text file\n" * 100,
    "a broken header": damage_header,
    "half a file": lambda data: data[: len(data) // 2],
    "zeros in the middle": lambda data: data[:4096] + b"\0" * (len(data) - 4096),
    "noise in the middle": lambda data: data[:4096] + bytes((b * 7 + i) % 256 for i, b in enumerate(data[4096:])),
}


@pytest.mark.parametrize("what", DAMAGE)
def test_a_damaged_store_neither_lies_nor_runs_anything_again(start_gateway, upstream, key, what):
    # aws-powertools PR2567: a corrupt record was overwritten by two workers; unreadable means locked.
    gateway = start_gateway()
    client = gateway.client(AUTH)
    bodies = {f"{key}-{i}": client.post(key=f"{key}-{i}").body for i in range(30)}
    assert gateway.stop() == 0
    data = gateway.store_path.read_bytes()
    for extra in gateway.directory.glob("stet.db-wal"):
        extra.unlink()
    gateway.store_path.write_bytes(DAMAGE[what](data))
    gateway.launch()
    try:
        gateway.wait_until_ready()
    except AssertionError:
        assert gateway.process.child.returncode == 3, gateway.output()[-2000:]
        assert "stet.db" in gateway.process.output()
        return
    for name, body in bodies.items():
        answer = try_post(gateway.client(AUTH), name)
        if answer is not None and answer.status == 201:
            assert (answer.body, answer.outcome) == (body, "replayed")
        elif answer is not None:
            assert answer.status in (500, 503), answer
    assert len(upstream.seen) == 30, "a completed operation ran again"


def test_a_store_of_a_newer_version_is_refused(gateway, upstream):
    import sqlite3

    assert gateway.stop() == 0
    with sqlite3.connect(gateway.store_path) as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    gateway.launch()
    assert gateway.process.wait() == 3
    assert "newer" in gateway.process.output() or "version" in gateway.process.output()
