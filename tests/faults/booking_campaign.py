#!/usr/bin/python3
"""The booking service under load while it and its provider are killed or stand still at random moments, and the database's
connections and, where it is the campaign's own, its server end.

    tests/faults/booking_campaign.py [SECONDS] [--store sqlite|postgresql] [--services N] [--seed N] [--clients N]

Everything is sent twice, at once, to any of the services, or by clients that hang up. The referees are the provider's own
ledger and the books (GET /audit). What must hold, whatever is killed:
  1  one effect for each key that was answered with one; none for those that were refused; never two
  2  an answer that was given never changes
  3  what was begun and abandoned by its client is brought to an end without it
  4  the books are right at every moment, and in the end they are the provider's
A campaign in which no connection broke, nothing was replayed or the provider met no repeat has shown nothing, and fails.
"""

import argparse
import collections
import contextlib
import json
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from support import stores  # noqa: E402
from support.booking import ADA, BOB, PRICE, Booking, is_final, wait_for  # noqa: E402
from support.concurrently import all_at_once  # noqa: E402
from support.http_client import Client, Closed, wire  # noqa: E402
from support.postgres import Cluster  # noqa: E402

HOTELS = 4
NIGHT = "2031-05-01"
LEASE_MS = 700
FAULTS = ["service"] * 7 + ["provider"] * 2 + ["database"] * 2 + ["pause"]
LOST = (Closed, OSError)


class Operation:
    """One intent of one client, and every answer it got."""

    def __init__(self, kind, method, target, body, key, caller):
        self.kind = kind
        self.request = (method, target, body)
        self.key = key
        self.caller = caller
        self.final = None
        self.lock = threading.Lock()

    def take(self, answer):
        """Rule 2."""
        if not is_final(answer):
            return
        with self.lock:
            told = (answer.status, answer.body)
            # What a transition says follows the state; that it was made, it says always.
            assert self.final in (None, told) or self.key is None, f"{self.kind} {self.key}: {self.final}, then {told}"
            self.final = told if self.final is None or answer.status == 200 else self.final

    @property
    def status(self):
        return self.final and self.final[0]


class Campaign:
    def __init__(self, booking, seed, clients, crashes=False):
        self.booking = booking
        self.crashes = crashes  # of the database's server, which is then this campaign's own
        self.random = random.Random(seed)
        self.clients = clients
        self.operations = []
        self.counts = collections.Counter()
        self.over = threading.Event()
        self.problems = []

    def run(self, seconds):
        for hotel in range(1, HOTELS + 1):
            self.booking.offer(rooms=100_000, night=NIGHT, hotel=hotel)
        self.booking.faults(lose=0.15, twice=True)
        threads = [threading.Thread(target=self.guarded, args=(self.client, random.Random(self.random.random()))) for _ in range(self.clients)]
        threads += [threading.Thread(target=self.guarded, args=(self.auditor,))]
        for thread in threads:
            thread.start()
        try:
            self.kill_for(seconds)
        finally:
            self.over.set()
            for thread in threads:
                thread.join(60)
        assert not self.problems, self.problems[0]
        self.judge()

    def guarded(self, function, *arguments):
        try:
            function(*arguments)
        except BaseException as error:
            self.problems.append(error)

    # ---- load ----

    def client(self, dice):
        mine = []
        while not self.over.is_set():
            operation = self.next_operation(dice, mine)
            self.operations.append(operation)
            self.send_somehow(operation, dice)
            if operation.kind == "reserve" and operation.status == 201:
                mine.append((operation.caller, json.loads(operation.final[1])["id"]))

    def next_operation(self, dice, mine):
        key = next(self.booking.keys)
        what = dice.random()
        if not mine or what < 0.4:
            caller = dice.choice((ADA, BOB))
            body = {"hotel_id": dice.randint(1, HOTELS), "night": NIGHT, "guest": f"guest of {key}"}
            return Operation("reserve", "POST", "/reservations", body, key, caller)
        caller, reservation = mine[dice.randrange(len(mine))] if what < 0.5 else mine.pop()
        if what < 0.85:
            card = "declined" if dice.random() < 0.1 else "visa"
            return Operation("pay", "POST", "/payments", {"reservation_id": reservation, "card": card}, key, caller)
        return Operation("cancel", "POST", f"/reservations/{reservation}/cancel", {}, None, caller)

    def send_somehow(self, operation, dice):
        how = dice.random()
        if how < 0.15:
            self.hang_up(operation, dice)
        if how < 0.4:
            services = [dice.randrange(len(self.booking.services)) for _ in range(3)]
            all_at_once(3, lambda i: self.send(operation, services[i]))
        elif how < 0.9:
            for _ in range(dice.randint(2, 4)):
                self.send(operation, dice.randrange(len(self.booking.services)))
        # The rest is abandoned after the hang-up, or never sent at all: then the end sends it for the first time.

    def send(self, operation, service):
        method, target, body = operation.request
        try:
            answer = self.booking.send(method, target, body, operation.key, operation.caller, service)
        except LOST:
            self.counts["lost"] += 1
            time.sleep(0.02)
            return None
        self.counts["replayed"] += answer.replayed
        self.counts[answer.status] += 1
        operation.take(answer)
        return answer

    def hang_up(self, operation, dice):
        method, target, body = operation.request
        data = json.dumps(body).encode()
        headers = [*operation.caller.items(), ("Content-Type", "application/json")]
        if operation.key:
            headers.append(("Idempotency-Key", operation.key))
        try:
            with Client(dice.choice(self.booking.addresses)).connect(2) as connection:
                connection.send(wire(method, target, headers, data))
                time.sleep(dice.random() * 0.02)
                connection.reset()
        except LOST:
            pass

    def auditor(self):
        """Rule 4, while everything happens."""
        while not self.over.wait(0.3):
            try:
                found = self.booking.audit(self.random.randrange(len(self.booking.services)))
            except LOST:
                continue
            except AssertionError:  # 503: the database's connections have just been ended
                continue
            assert not any(found["wrong"].values()), found
            self.counts["audits"] += 1

    # ---- faults ----

    def kill_for(self, seconds):
        end = time.monotonic() + seconds
        deck = []
        drawn = 0
        while (time.monotonic() < end or drawn < len(FAULTS)) and not self.problems:
            time.sleep(self.random.uniform(0.1, 0.9))
            # In whatever order, but each of them in every dozen, and a dozen at the least.
            drawn += 1
            deck = deck or self.random.sample(FAULTS, len(FAULTS))
            fault = deck.pop()
            if fault == "pause":
                self.pause(self.random.choice(self.booking.services).process)
            elif fault == "database" and self.booking.database:
                self.trouble_the_database(*self.booking.database)
            elif fault == "provider":
                self.kill(self.booking.provider, fault)
                self.booking.faults(lose=0.15, twice=True)
            else:
                self.kill(self.random.choice(self.booking.services), "service")

    def kill(self, victim, what):
        victim.kill()
        self.counts[f"killed {what}"] += 1
        time.sleep(self.random.uniform(0, 0.3))
        victim.start()

    def trouble_the_database(self, server, database):
        if self.crashes and self.random.random() < 0.5:
            server.restart(signal.SIGQUIT)
            self.counts["database crashed"] += 1
        else:
            server.terminate_backends(database)
            self.counts["connections ended"] += 1

    def pause(self, process):
        """It stands still until its leases are over, and then goes on as if nothing had happened."""
        process.signal(signal.SIGSTOP)
        time.sleep(LEASE_MS / 1000 * self.random.uniform(0.5, 2))
        process.signal(signal.SIGCONT)
        self.counts["paused"] += 1

    # ---- judgement ----

    def judge(self):
        repeats = self.booking.ask_provider("/stats")["repeats"]  # since its last start
        self.booking.faults(lose=0, twice=False)
        # The last thing that happened may be the end of the connections that are asked now.
        self.booking.until_final(lambda: self.booking.send("GET", "/audit"))
        # Rule 3: nobody sends anything now.
        wait_for(lambda: self.booking.totals()["paying"] == 0, 60, lambda: f"left: {self.booking.audit()}")
        for operation in self.operations:
            method, target, body = operation.request
            answer = self.booking.until_final(lambda: self.booking.send(method, target, body, operation.key, operation.caller))
            operation.take(answer)
        totals = self.booking.check_books()
        done = collections.Counter((operation.kind, operation.status) for operation in self.operations)
        assert totals["reservations"] == done["reserve", 201], (totals, done)
        assert totals["payments"] == done["pay", 201], (totals, done)
        cancelled = {operation.request[1] for operation in self.operations if operation.kind == "cancel" and operation.status == 200}
        assert totals["cancelled"] == len(cancelled), (totals, done)
        assert totals["bank"] == totals["payments"] * PRICE
        said = f"{len(self.operations)} operations {dict(done)}, {dict(self.counts)}, repeats at the provider {repeats}"
        print(said)
        for needed in ("lost", "replayed", "killed service", "killed provider", "paused", "audits"):
            assert self.counts[needed], f"vacuous: nothing was {needed}: {said}"
        assert done["pay", 201] and done["reserve", 201] and cancelled, f"vacuous: {said}"


def campaign(seconds, store="sqlite", services=1, seed=None, clients=6, directory=None, server=None):
    """With a server of PostgreSQL given, that one crashes, too."""
    seed = seed if seed is not None else random.SystemRandom().randrange(1 << 32)
    print(f"booking campaign: {seconds:.0f} s on {store}, {services} service(s), seed {seed}", flush=True)
    with tempfile.TemporaryDirectory(dir=directory) as folder:
        with Booking(pathlib.Path(folder), store, services, LEASE_MS, server=server) as booking:
            try:
                Campaign(booking, seed, clients, crashes=server is not None).run(seconds)
            except BaseException:
                print("\n".join(f"--- {child.command[0]} ---\n{child.output()[-3000:]}" for child in [booking.provider, *booking.services]))
                raise


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("seconds", nargs="?", type=float, default=600)
    options.add_argument("--store", choices=("sqlite", "postgresql"), help="both, half of the time each, without it")
    options.add_argument("--services", type=int, default=2, help="on PostgreSQL")
    options.add_argument("--seed", type=int)
    options.add_argument("--clients", type=int, default=6)
    given = options.parse_args()
    chosen = [given.store] if given.store else ["sqlite", "postgresql"]
    try:
        for store in chosen:
            with Cluster() if store == "postgresql" else contextlib.nullcontext() as server:
                campaign(given.seconds / len(chosen), store, 1 if server is None else given.services, given.seed, given.clients, server=server)
    finally:
        stores.end_server()


if __name__ == "__main__":
    main()
