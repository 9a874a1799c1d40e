"""Fixtures for every black-box test: an upstream, the gateway in front of it, and the demo API."""

import itertools
import os
import pathlib
import socket
import sys

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from support import stores  # noqa: E402
from support.processes import BINARY, Demo  # noqa: E402
from support.upstream import Upstream  # noqa: E402

AUTH = {"Authorization": "Bearer alice"}


def pytest_configure(config):
    if not os.access(BINARY, os.X_OK):
        raise pytest.UsageError(f"no binary at {BINARY}: build it, or name one with STET_BINARY")


def pytest_collection_modifyitems(config, items):
    selected, others = stores.select(items)
    part, parts = map(int, os.environ.get("STET_TEST_PART", "1/1").split("/"))
    items[:] = selected[part - 1::parts]
    others += [item for item in selected if item not in items]
    if others:
        config.hook.pytest_deselected(items=others)


def pytest_sessionfinish(session, exitstatus):
    stores.end_server()
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and stores.STORE != "sqlite":
        session.exitstatus = pytest.ExitCode.OK  # a file in which no gateway is started


@pytest.fixture
def upstream():
    server = Upstream()
    yield server
    server.stop()
    assert not server.errors, f"what reached the upstream was wrong: {server.errors}"


@pytest.fixture
def make_upstream():
    servers = []

    def make(*args, **more):
        servers.append(Upstream(*args, **more))
        return servers[-1]

    yield make
    for server in servers:
        server.stop()
        assert not server.errors, f"what reached the upstream was wrong: {server.errors}"


@pytest.fixture
def closed_port():
    """A port at which connections are refused, and which nobody else takes meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield taken.getsockname()[1]


@pytest.fixture
def start_gateway(tmp_path, upstream, request):
    """start_gateway(config, …) → a gateway that serves. `upstream_url` defaults to the upstream of this test."""
    gateways = []
    made = stores.Stores()

    def start(config="", upstream_url=None, launch_only=False, **more):
        directory = tmp_path / f"gateway{len(gateways)}"
        directory.mkdir()
        gateway = made.make(directory, upstream_url or upstream.url, config, **more)
        gateways.append(gateway)
        return gateway.launch() if launch_only else gateway.start()

    yield start
    for gateway in gateways:
        ended_early = gateway.process is not None and not gateway.process.is_running()
        gateway.end()
        # A test that ends its gateway has looked at how it ended; a crash that nobody asked for fails it.
        if ended_early and gateway.process.child.returncode in (-6, -11, -4, -7, -8):
            pytest.fail(f"the gateway crashed with {gateway.process.child.returncode}:\n{gateway.output()[-4000:]}")
        if request.node.stash.get(FAILED, False):
            print(f"--- log of {gateway.directory.name} ---\n{gateway.output()[-6000:]}")
    made.give_back()


@pytest.fixture(scope="module")
def start_module_gateway(tmp_path_factory):
    """The same for a gateway that all tests of a file use."""
    made, gateways = stores.Stores(), []

    def start(upstream_url, config):
        gateways.append(made.make(tmp_path_factory.mktemp("gateway"), upstream_url, config))
        return gateways[-1].start()

    yield start
    for gateway in gateways:
        running = gateway.process.is_running()
        gateway.end()
        assert running, gateway.output()[-4000:]
    made.give_back()


@pytest.fixture
def gateway(start_gateway):
    """A gateway with the defaults."""
    return start_gateway()


@pytest.fixture
def alice(gateway):
    """A client of the default gateway with credentials."""
    return gateway.client(AUTH)


@pytest.fixture
def start_demo(tmp_path):
    demos = []

    def start(**more):
        demos.append(Demo(tmp_path, **more))
        return demos[-1]

    yield start
    for demo in demos:
        demo.end()


_keys = itertools.count(1)


@pytest.fixture
def key():
    """A key that no other test has used."""
    return f"key-{os.getpid()}-{next(_keys)}"


FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True, tryfirst=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    if call.when == "call":
        item.stash[FAILED] = outcome.get_result().failed
