"""The booking service (examples/booking) and its payment provider as processes of a test, on SQLite or PostgreSQL."""

import itertools
import json
import os
import pathlib
import sys
import time

from support import stores
from support.concurrently import all_at_once
from support.fault_proxy import FaultProxy
from support.http_client import Client, Closed
from support.ports import free_port
from support.processes import BINARY, ROOT, Process

SERVICE = pathlib.Path(os.environ.get("STET_BOOKING", pathlib.Path(BINARY).parents[2] / "examples/booking/booking"))
PROVIDER = ROOT / "examples/booking/provider.py"
SECRET = "whsec_test"
ADA = {"Authorization": "Bearer ada"}
BOB = {"Authorization": "Bearer bob"}
NIGHT = "2031-05-01"
HOTEL = 7
PRICE = 4900


def wait_for(found, within, why):
    """The first thing that `found()` gives."""
    end = time.monotonic() + within
    while True:
        value = found()
        if value:
            return value
        assert time.monotonic() < end, why()
        time.sleep(0.05)


class Child:
    """A process that is killed and started again on its address."""

    def __init__(self, command, environment=None):
        self.command = command
        self.environment = environment or {}
        self.process = None
        self.said = []

    def start(self):
        if self.process is not None:
            self.said += list(self.process.lines)[-200:]
        self.process = Process(self.command, self.environment)
        self.process.wait_for_line(lambda line: " at http://" in line)
        return self

    def restart(self):
        """Whether it runs or has died."""
        self.end()
        return self.start()

    def kill(self):
        self.process.kill()

    def end(self):
        if self.process is not None:
            self.process.end()

    def output(self):
        return "\n".join(self.said + list(self.process.lines))


class Booking:
    """One provider, one database and `services` processes on it."""

    def __init__(self, directory, on="sqlite", services=1, lease_ms=1000, through_proxy=False, server=None):
        self.on = on
        self.database = None
        self.proxy = None
        if on == "sqlite":
            assert services == 1, "one process a file"
            self.store = f"sqlite:{directory / 'booking.db'}"
        else:
            self.database = stores.new_database(server)
            server, name = self.database
            self.store = server.url(name)
            if through_proxy:  # as TCP, whose every send and receive can be made to fail
                self.proxy = FaultProxy(server.directory / ".s.PGSQL.5432")
                self.store = f"postgresql://postgres@127.0.0.1:{self.proxy.address[1]}/{name}?sslmode=disable&gssencmode=disable"
        self.addresses = [("127.0.0.1", free_port()) for _ in range(services)]
        self.provider_address = ("127.0.0.1", free_port())
        self.provider = Child([sys.executable, str(PROVIDER), "--listen", "%s:%d" % self.provider_address, "--db",
                               str(directory / "provider.db"), "--secret", SECRET,
                               "--webhook", "http://%s:%d/webhooks/provider" % self.addresses[0]])
        self.services = [Child(self.service_command(address, lease_ms)) for address in self.addresses]
        self.keys = map(f"k-{os.getpid()}-{{}}".format, itertools.count(1))  # for many threads, which a generator is not

    def service_command(self, address, lease_ms=1000):
        return [str(SERVICE), "--listen", "%s:%d" % address, "--store", self.store, "--provider",
                "http://%s:%d" % self.provider_address, "--webhook-secret", SECRET, "--lease-ms", str(lease_ms)]

    def __enter__(self):
        self.provider.start()
        for service in self.services:
            service.start()
        return self

    def __exit__(self, *_):
        for child in [*self.services, self.provider]:
            child.end()
        if self.proxy:
            self.proxy.close()
        if self.database:
            self.database[0].drop_database(self.database[1])

    def sql(self, *statements):
        """While no service runs: a second connection to its file is what it does not expect."""
        if self.on == "sqlite":
            import sqlite3

            with sqlite3.connect(self.store.removeprefix("sqlite:")) as connection:
                for statement in statements:
                    connection.execute(statement)
        else:
            self.database[0].execute(";".join(statements), database=self.database[1])

    # ---- requests ----

    def send(self, method, target, body=None, key=None, headers=ADA, service=0, timeout=15):
        return Client(self.addresses[service]).send(method, target, json_body=body, key=key, headers=headers, timeout=timeout)

    def offer(self, rooms=5, night=NIGHT, hotel=HOTEL, price=PRICE):
        for _ in range(2):
            answer = self.send("PUT", f"/hotels/{hotel}/nights/{night}", {"rooms": rooms, "price": price})
            assert answer.status == 200, answer

    def reserve(self, key=None, night=NIGHT, hotel=HOTEL, guest="Ada", **more):
        return self.send("POST", "/reservations", {"hotel_id": hotel, "night": night, "guest": guest}, key or next(self.keys), **more)

    def pay(self, reservation, key=None, card="visa", **more):
        return self.send("POST", "/payments", {"reservation_id": reservation, "card": card}, key or next(self.keys), **more)

    def cancel(self, reservation, **more):
        return self.send("POST", f"/reservations/{reservation}/cancel", {}, **more)

    def everywhere_at_once(self, count, request):
        """`request(service=…)`, `count` times at once over all services."""
        return all_at_once(count, lambda i: request(service=i % len(self.services)))

    def until_final(self, request, patience=60):
        """Sends it until something other than "in progress" or "later" comes. A lost connection is asked again, too."""
        seen = []

        def final():
            try:
                seen.append(request())
            except (Closed, OSError) as lost:
                seen.append(lost)
                return None
            return seen[-1] if is_final(seen[-1]) else None

        return wait_for(final, patience, lambda: f"never came to an end: {seen[-3:]}")

    # ---- what is there ----

    def audit(self, service=0):
        answer = self.send("GET", "/audit", service=service)
        assert answer.status == 200, answer
        return answer.json()

    def totals(self):
        found = self.audit()
        assert not any(found["wrong"].values()), found
        return found["totals"]

    def free(self, night=NIGHT, hotel=HOTEL):
        return self.send("GET", f"/hotels/{hotel}/nights/{night}").json()["free"]

    def reservations(self, hotel=HOTEL):
        return self.send("GET", f"/hotels/{hotel}/reservations").json()["data"]

    def ask_provider(self, target):
        answer = Client(self.provider_address).get(target)
        assert answer.status == 200, answer
        return answer.json()

    def charges(self):
        return self.ask_provider("/charges")["data"]

    def faults(self, **faults):
        answer = Client(self.provider_address).send("POST", "/faults", json_body=faults)
        assert answer.status == 200, answer

    def settle(self):
        """Waits until every webhook has been delivered."""
        def settled():
            stats = self.ask_provider("/stats")
            return stats["events"] == stats["delivered"] and stats
        return wait_for(settled, 60, lambda: f"webhooks are left: {self.ask_provider('/stats')}")

    def check_books(self):
        """What must hold whenever nothing is under way: the books are right, and are the provider's books."""
        self.settle()
        totals = self.totals()
        charges = self.charges()
        assert totals["paying"] == 0, totals
        assert totals["payments"] == totals["paid"] == len(charges), (totals, len(charges))
        assert len({charge["payment"] for charge in charges}) == len(charges), "a payment was charged twice"
        cents = sum(charge["amount"] for charge in charges)
        assert totals["cents"] == totals["revenue"] == totals["bank"] == cents and totals["provider"] == 0, (totals, cents)
        return totals


def is_final(answer):
    return answer.status not in (429, 500, 502, 503, 504) and answer.problem != "in-progress"


def body_of(answer):
    return answer.status, json.loads(answer.body)
