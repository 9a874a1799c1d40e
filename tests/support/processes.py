"""The real binary as processes of a test: the gateway and the demo API, started on free ports, killed, restarted."""

import collections
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import threading
import time

import pytest
from support.http_client import Client
from support.ports import free_port, give_back
from support.upstream import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
BINARY = os.path.abspath(os.environ.get("STET_BINARY", ROOT / "build/dev/apps/stet/stet"))
START_SECONDS = 40  # a loaded machine; a healthy start takes milliseconds


@functools.cache
def is_sanitized():
    """Whether the binary carries a sanitizer, which takes memory and time of its own."""
    data = pathlib.Path(BINARY).read_bytes()
    return b"__asan_init" in data or b"__tsan_init" in data


def run_stet(*arguments, timeout=30, env=None, cwd=None):
    """Runs `stet …` to its end."""
    return subprocess.run(
        [BINARY, *arguments], capture_output=True, text=True, timeout=timeout, cwd=cwd, env={**os.environ, **(env or {})}
    )


class Process:
    """One child whose output is read all the time, so that it never blocks on a full pipe."""

    def __init__(self, arguments, env=None, cwd=None):
        self.lines = collections.deque(maxlen=200_000)
        self.child = subprocess.Popen(
            arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=cwd,
            env={**os.environ, **(env or {})},
        )
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.child.stdout:
            self.lines.append(line.decode("utf-8", "replace").rstrip("\n"))

    @property
    def pid(self):
        return self.child.pid

    def is_running(self):
        return self.child.poll() is None

    def output(self):
        return "\n".join(list(self.lines))

    def wait_for_line(self, true, within=START_SECONDS):
        """The first line for which `true` gives something, and what it gave."""
        end = time.monotonic() + within
        looked = 0
        while True:
            running = self.is_running()
            if not running:
                self.reader.join(2)
            lines = list(self.lines)
            for line in lines[looked:]:
                found = true(line)
                if found:
                    return found
            looked = len(lines)
            assert running, f"ended with {self.child.returncode}:\n{self.output()}"
            assert time.monotonic() < end, f"the line did not come:\n{self.output()}"
            time.sleep(0.005)

    def signal(self, number):
        self.child.send_signal(number)

    def kill(self):
        """SIGKILL, and waits for the end."""
        self.child.kill()
        self.child.wait(30)
        self.reader.join(5)

    def wait(self, within=30):
        """The exit status."""
        status = self.child.wait(within)
        self.reader.join(5)
        return status

    def stop(self, within=30):
        """SIGTERM; the exit status."""
        if self.is_running():
            self.signal(signal.SIGTERM)
        return self.wait(within)

    def end(self):
        """Whatever its state: gone, without a word."""
        if self.is_running():
            try:
                self.signal(signal.SIGCONT)
            except OSError:
                pass
            self.kill()


def _address(text):
    host, port = text.rsplit(":", 1)
    return host.strip("[]"), int(port)


class Demo(Process):
    def __init__(self, directory, listen=None, db="charges.db"):
        self.db = pathlib.Path(directory) / db
        super().__init__([BINARY, "demo-api", "--listen", listen or f"127.0.0.1:{free_port()}", "--db", str(self.db)])
        found = self.wait_for_line(lambda line: re.search(r"http://([\w.\[\]:]+:\d+)", line))
        self.address = _address(found.group(1))
        self.url = f"http://127.0.0.1:{self.address[1]}"

    def charges(self, key=None):
        answer = Client(self.address).get("/charges" + (f"?key={key}" if key is not None else ""))
        assert answer.status == 200, answer
        listed = answer.json()
        assert listed["count"] == len(listed["data"])
        return listed["data"]


class Gateway:
    """`stet serve` with a configuration file and a store of its own. Its addresses stay the same across restarts."""

    def __init__(self, directory, upstream, config="", environment=None, arguments=(), store=None, wrapper=()):
        self.directory = pathlib.Path(directory)
        self.upstream = upstream if isinstance(upstream, list) else [upstream]
        self.config = config
        self.environment = environment or {}
        self.arguments = list(arguments)
        self.store = store or f"sqlite:{self.directory / 'stet.db'}"
        self.wrapper = list(wrapper)
        self.ports = [free_port(), free_port()]
        self.listen, self.admin_listen = (f"127.0.0.1:{port}" for port in self.ports)
        self.file = self.directory / "stet.toml"
        self.process = None
        self.past_lines = []
        self.before_restart = lambda: None

    @property
    def store_path(self):
        if not self.store.startswith("sqlite:"):
            pytest.skip("SQLite only: looks into the file")
        return pathlib.Path(self.store.removeprefix("sqlite:"))

    def write_config(self, config=None):
        if config is not None:
            self.config = config
        urls = json.dumps(self.upstream[0] if len(self.upstream) == 1 else self.upstream)
        top = f'listen = "{self.listen}"\nadmin = "{self.admin_listen}"\nupstream = {urls}\nstore = "{self.store}"\n'
        # The defaults keep 64 MiB aside, once for every test.
        if self.store.startswith("sqlite:") and "store_options" not in self.config:
            top += 'store_options.ballast = "64KiB"\nstore_options.free_space_floor = "1MiB"\n'
        self.file.write_text(top + self.config)

    def launch(self):
        """Starts the process without waiting until it is ready."""
        self.write_config()
        if self.process is not None:
            self.past_lines.extend(self.process.lines)
        command = self.wrapper + [BINARY, "serve", "--config", str(self.file), *self.arguments]
        self.process = Process(command, self.environment, self.directory)
        return self

    def start(self, within=START_SECONDS):
        self.launch()
        self.wait_until_ready(within)
        return self

    def wait_until_ready(self, within=START_SECONDS):
        ready = self.process.wait_for_line(_ready, within)
        self.address = _address(ready["listen"])
        self.admin_address = _address(ready["admin"])
        self.listen = "%s:%d" % self.address
        self.admin_listen = "%s:%d" % self.admin_address

    def restart(self, within=START_SECONDS):
        """After a kill or a stop."""
        self.before_restart()
        return self.start(within)

    def kill(self):
        self.process.kill()

    def stop(self, within=30):
        return self.process.stop(within)

    def reload(self, config):
        """Writes a new configuration, sends SIGHUP, and waits for what the log says about it."""
        before = len(self.reload_events())
        self.write_config(config)
        self.process.signal(signal.SIGHUP)
        wait_until(lambda: len(self.reload_events()) > before, 20, lambda: "no word of a reload:\n" + self.process.output())
        return self.reload_events()[-1]

    def reload_events(self):
        return [e for e in self.log() if e.get("event") in ("reload", "reload-failed")]

    def log(self):
        """What the present process has logged, as objects."""
        out = []
        for line in list(self.process.lines):
            try:
                out.append(json.loads(line))
            except ValueError:
                pass
        return [e for e in out if isinstance(e, dict)]

    def events(self, name):
        return [e for e in self.log() if e.get("event") == name]

    def output(self):
        return "\n".join(self.past_lines + list(self.process.lines if self.process else []))

    def client(self, headers=()):
        return Client(self.address, headers)

    def admin(self, method, target, headers=(), json_body=None):
        named = any(name.lower() == "host" for name, _ in (headers.items() if isinstance(headers, dict) else headers))
        own_name = [] if named else [("Host", self.admin_listen)]
        return Client(self.admin_address, own_name).send(method, target, headers=headers, json_body=json_body)

    def operations(self, query=""):
        answer = self.admin("GET", "/api/operations" + query)
        assert answer.status == 200, answer
        return answer.json()["operations"]

    def metrics(self):
        """Prometheus text as {name{labels}: value}."""
        answer = self.admin("GET", "/metrics")
        assert answer.status == 200, answer
        values = {}
        for line in answer.body.decode().splitlines():
            if line and not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                values[name] = float(value)
        return values

    def end(self):
        if self.process is not None:
            self.process.end()
        for port in self.ports:
            give_back(port)


def _ready(line):
    """The addresses in the ready line, whatever the log's format."""
    try:
        entry = json.loads(line)
    except ValueError:
        return None
    if not isinstance(entry, dict) or entry.get("event") != "ready":
        return None
    return {name: re.sub(r"^https?://", "", str(entry[name])).rstrip("/") for name in ("listen", "admin")}
