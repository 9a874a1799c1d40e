"""Every crash point and every failing call in turn: at its first, second, … system call of a kind the gateway dies, just before
or just after it, or that call fails; until it gets through a small scenario without meeting such a call. Each time it is then
restarted on the same file, and everything is retried."""

import shutil

import pytest
from support.disk import preloadable, preloading
from support.http_client import Closed
from support.processes import Gateway

AUTH = {"Authorization": "Bearer alice"}
ENOUGH = 120  # calls of one kind, at the most


def try_post(gateway, key):
    try:
        return gateway.client(AUTH).post(key=key, timeout=10)
    except (OSError, Closed):
        return None


def at_call(library, where, files, came):
    return {**preloading(library), "STET_ONE_CALL": where, "STET_ONE_CALL_UNDER": str(files), "STET_ONE_CALL_CAME": str(came)}


@pytest.fixture
def used_store(start_gateway, tmp_path):
    """A store that has held an operation, so that what happens only in a new file is not all that is tried."""
    gateway = start_gateway()
    gateway.client(AUTH).post(key="before")
    assert gateway.stop() == 0
    return gateway.store_path


def scenario(gateway, upstream, keys):
    """Each write twice, one after the other; what the caller was told, and how many effects there were by then."""
    told = []
    for key in keys:
        for _ in range(2):
            if gateway.process.is_running():
                answer = try_post(gateway, key)
                told.append((key, answer, len(upstream.effects_of(key))))
    return told


def check(gateway, upstream, keys, told, where):
    """After the restart: everything that was acknowledged is there, nothing ran twice, everything has an end."""
    acknowledged = {}
    for key, answer, effects in told:
        if answer is None:
            continue
        if answer.status == 201:
            assert acknowledged.setdefault(key, answer.body) == answer.body, (where, key, told)
            assert effects == 1, (where, key, told)
        else:
            assert answer.outcome in ("not-executed", "unknown", "in-progress"), (where, answer)
        if answer.outcome == "not-executed":
            assert effects == 0, (where, key, answer)
    for key in keys:
        last = try_post(gateway, key)
        assert last is not None, where
        effects = len(upstream.effects_of(key))
        assert effects <= 1, (where, key, effects)
        if key in acknowledged:
            assert (last.outcome, last.body) == ("replayed", acknowledged[key]), (where, key, last)
        if last.status == 201:
            assert effects == 1, (where, key)
        else:
            assert last.problem == "outcome-unknown", (where, key, last)
        assert try_post(gateway, key).outcome == ("replayed" if last.status == 201 else "unknown"), (where, key)
    assert try_post(gateway, "before").outcome == "replayed", where


@pytest.mark.parametrize("kind, what", [
    ("sync", "before"), ("sync", "after"), ("write", "before"), ("write", "after"), ("send", "before"), ("send", "after"),
    ("receive", "before"), ("receive", "after"),
    ("sync", "eio"), ("write", "eio"), ("write", "enospc"), ("send", "reset"), ("receive", "reset")])
def test_at_every_call(used_store, upstream, tmp_path, kind, what):
    library = preloadable(tmp_path, "one_call.c")
    points = 0
    for number in range(1, ENOUGH):
        where = f"{kind}:{number}:{what}"
        directory = tmp_path / f"{kind}-{number}"
        directory.mkdir()
        shutil.copy(used_store, directory / "stet.db")
        came = directory / "came"
        gateway = Gateway(directory, upstream.url, environment=at_call(library, where, directory / "stet.db", came))
        # The upstream may not yet have seen the last request of a gateway that died.
        keys = [f"first-{number}", f"second-{number}"]
        told = []
        try:
            gateway.launch()
            try:
                gateway.wait_until_ready()
            except AssertionError:
                assert came.exists(), gateway.output()
            else:
                told = scenario(gateway, upstream, keys)
            through = not came.exists()
            points += not through
            if what == "eio" and not through:
                assert gateway.process.wait() == 3, "an I/O error of the store ends the process, which says so"
            gateway.kill()
            gateway.environment = {}
            gateway.restart()
            check(gateway, upstream, keys, told, where)
        finally:
            gateway.end()
        shutil.rmtree(directory)
        if through:
            break  # there is no such call any more
    print(f"{points} points")
    assert points >= 4, f"only {points} calls: the scenario does not reach what it should"


@pytest.mark.parametrize("kind", ["sync", "write"])
def test_dying_again_and_again_in_recovery(start_gateway, upstream, tmp_path, kind):
    """A gateway that was killed with an operation running dies at each call of its recovery before it gets through."""
    library = preloadable(tmp_path, "one_call.c")
    gateway = start_gateway()
    _, gate = upstream.hold(gateway.client(AUTH).post, key="running")
    kept = gateway.client(AUTH).post(key="kept")
    gateway.kill()
    gate.open()
    deaths = 0
    for number in range(1, ENOUGH):
        died = gateway.directory / f"died-{number}"
        gateway.environment = at_call(library, f"{kind}:{number}:after", gateway.store_path, died)
        gateway.launch()
        try:
            gateway.wait_until_ready()
            try_post(gateway, "running")
        except AssertionError:
            assert died.exists(), gateway.output()
        gateway.kill()
        if not died.exists():
            break
        deaths += 1
    gateway.environment = {}
    gateway.restart()
    assert gateway.client(AUTH).post(key="running").problem == "outcome-unknown"
    again = gateway.client(AUTH).post(key="kept")
    assert (again.body, again.outcome) == (kept.body, "replayed")
    assert len(upstream.seen) == 2
    assert deaths >= 1
