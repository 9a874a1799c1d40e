"""Every crash point in turn: the gateway dies at its first, second, … system call of a kind, just before or just after it,
until it gets through a small scenario alive; after each death it is restarted on the same file and everything is retried."""

import shutil

import pytest
from support.concurrently import background
from support.disk import preloadable
from support.http_client import Closed
from support.processes import Gateway
from support.upstream import Gate

AUTH = {"Authorization": "Bearer alice"}
KEYS = ("first", "second")
ENOUGH = 120  # calls of one kind in the scenario, at the most


def try_post(gateway, key):
    try:
        return gateway.client(AUTH).post(key=key, timeout=10)
    except (OSError, Closed):
        return None


@pytest.fixture
def used_store(start_gateway, tmp_path):
    """A store that has held an operation, so that what happens only in a new file is not all that is tried."""
    gateway = start_gateway()
    gateway.client(AUTH).post(key="before")
    assert gateway.stop() == 0
    return gateway.store_path


def scenario(gateway):
    """Each write twice, one after the other; what the caller was told."""
    told = []
    for key in KEYS:
        for _ in range(2):
            if gateway.process.is_running():
                told.append((key, try_post(gateway, key)))
    return told


def check(gateway, upstream, told, where):
    """After the restart: everything that was acknowledged is there, nothing ran twice, everything has an end."""
    acknowledged = {key: answer.body for key, answer in told if answer is not None and answer.status == 201}
    for key in KEYS:
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
    for key, answer in told:
        if answer is not None and answer.outcome == "not-executed":
            assert not upstream.effects_of(key), (where, key, answer)
    assert try_post(gateway, "before").outcome == "replayed", where


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["sync", "write", "send", "receive"])
def test_dying_at_every_call(used_store, upstream, tmp_path, kind, when):
    library = preloadable(tmp_path, "dying_process.c")
    points = 0
    for number in range(1, ENOUGH):
        where = f"{kind}:{number}:{when}"
        directory = tmp_path / f"{kind}-{number}"
        directory.mkdir()
        shutil.copy(used_store, directory / "stet.db")
        died = directory / "died"
        gateway = Gateway(directory, upstream.url, environment={
            "LD_PRELOAD": str(library), "STET_DIE_AT": where, "STET_DIE_UNDER": str(directory / "stet.db"), "STET_DIED": str(died)})
        upstream.effects.clear()
        told = []
        try:
            gateway.launch()
            try:
                gateway.wait_until_ready()
            except AssertionError:
                assert died.exists(), gateway.output()
            else:
                told = scenario(gateway)
            survived = not died.exists()
            points += not survived
            gateway.kill()
            gateway.environment = {}
            gateway.restart()
            check(gateway, upstream, told, where)
        finally:
            gateway.end()
        shutil.rmtree(directory)
        if survived:
            break  # there is no such call any more
    print(f"{points} points")
    assert points >= 4, f"only {points} deaths: the scenario does not reach what it should"


@pytest.mark.parametrize("kind", ["sync", "write"])
def test_dying_again_and_again_in_recovery(start_gateway, upstream, tmp_path, kind):
    """A gateway that was killed with an operation running dies at each call of its recovery before it gets through."""
    library = preloadable(tmp_path, "dying_process.c")
    gateway = start_gateway()
    gate = Gate()
    upstream.plan(gate)
    background(lambda: gateway.client(AUTH).post(key="running"))
    assert gate.entered.wait(5)
    kept = gateway.client(AUTH).post(key="kept")
    gateway.kill()
    gate.open()
    deaths = 0
    for number in range(1, ENOUGH):
        died = gateway.directory / f"died-{number}"
        gateway.environment = {"LD_PRELOAD": str(library), "STET_DIE_AT": f"{kind}:{number}:after",
                               "STET_DIE_UNDER": str(gateway.store_path), "STET_DIED": str(died)}
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
