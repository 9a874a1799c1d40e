"""Two gateways on one store that a test handles as one: each request goes to the other than the one before."""

import itertools
import pathlib

from support.http_client import Client
from support.processes import START_SECONDS, Gateway


class Both:
    """The two processes as one."""

    def __init__(self, processes):
        self.processes = processes

    @property
    def lines(self):
        return [line for process in self.processes for line in list(process.lines)]

    @property
    def child(self):
        return next((p.child for p in self.processes if p.child.poll() not in (None, 0)), self.processes[0].child)

    @property
    def pid(self):
        return self.processes[0].pid

    def is_running(self):
        return all(process.is_running() for process in self.processes)

    def output(self):
        return "\n".join(self.lines)

    def wait_for_line(self, true, within=START_SECONDS):
        return [process.wait_for_line(true, within) for process in self.processes][0]

    def signal(self, number):
        for process in self.processes:
            process.signal(number)

    def kill(self):
        for process in self.processes:
            process.kill()

    def wait(self, within=30):
        return max((process.wait(within) for process in self.processes), key=abs)

    def stop(self, within=30):
        return max((process.stop(within) for process in self.processes), key=abs)


class InTurn:
    def __init__(self, directory, upstream, config="", **more):
        self.directory = pathlib.Path(directory)
        self.both = []
        for name in ("one", "two"):
            (self.directory / name).mkdir()
            self.both.append(Gateway(self.directory / name, upstream, config, **more))
        self.turns = itertools.cycle(self.both)

    @property
    def next(self):
        return next(self.turns)

    # What is the same for both, or asked of the first.

    def __getattr__(self, name):
        return getattr(self.both[0], name)

    @property
    def config(self):
        return self.both[0].config

    @config.setter
    def config(self, text):
        for gateway in self.both:
            gateway.config = text

    @property
    def process(self):
        started = [gateway.process for gateway in self.both if gateway.process is not None]
        return Both(started) if started else None

    # What goes to one of them.

    @property
    def address(self):
        return self.next.address

    def client(self, headers=()):
        return Client(lambda: self.next.address, headers)

    def admin(self, *arguments, **more):
        return self.next.admin(*arguments, **more)

    def operations(self, query=""):
        return self.next.operations(query)

    # What happens to both.

    def write_config(self, config=None):
        for gateway in self.both:
            gateway.write_config(config)

    def launch(self):
        for gateway in self.both:
            gateway.launch()
        return self

    def wait_until_ready(self, within=START_SECONDS):
        for gateway in self.both:
            gateway.wait_until_ready(within)

    def start(self, within=START_SECONDS):
        self.launch()
        self.wait_until_ready(within)
        return self

    def restart(self, within=START_SECONDS):
        self.before_restart()
        return self.start(within)

    def kill(self):
        self.process.kill()

    def stop(self, within=30):
        for gateway in self.both:
            gateway.process.signal(15)
        return self.process.wait(within)

    def reload(self, config):
        return [gateway.reload(config) for gateway in self.both][0]

    def end(self):
        for gateway in self.both:
            gateway.end()

    # What both have said.

    def reload_events(self):
        return [event for gateway in self.both for event in gateway.reload_events()]

    def log(self):
        return sorted((entry for gateway in self.both for entry in gateway.log()), key=lambda entry: entry.get("time", ""))

    def events(self, name):
        return [event for event in self.log() if event.get("event") == name]

    def output(self):
        return "\n".join(gateway.output() for gateway in self.both)

    def metrics(self):
        sums = {}
        for gateway in self.both:
            for name, value in gateway.metrics().items():
                sums[name] = sums.get(name, 0) + value
        return sums
