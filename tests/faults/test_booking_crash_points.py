"""The booking service at every crash point in turn: at its first, second, … system call of a kind it dies, just before or just
after it, or that call fails, until it gets through a small scenario without meeting such a call. Each time it is then started
again on the same database, everything is retried, and the books must be right. On PostgreSQL the database's connection counts
as well: every statement's way there and back is such a point."""

import json
import os
import random

import pytest
from support.booking import Booking
from support.disk import preloadable, preloading
from support.http_client import Closed

ENOUGH = 400  # calls of one kind, at the most
# On PostgreSQL there are a hundred of each kind: a run takes every third, beginning anywhere, unless told to take all.
EVERY = 1 if os.environ.get("STET_EVERY_CRASH_POINT") else 3
CASES = [(store, kind, what)
         for store in ("sqlite", "postgresql")
         for kind, what in (("sync", "before"), ("sync", "after"), ("sync", "eio"), ("write", "after"), ("write", "enospc"),
                            ("send", "before"), ("send", "after"), ("send", "reset"), ("receive", "after"), ("receive", "reset"))
         if store == "sqlite" or kind in ("send", "receive")]


def scenario(booking, told, name, patience=False):
    """Each write twice; every final answer is kept in `told`, and must stay what it was."""

    def twice(what, request):
        for _ in range(2):
            try:
                answer = booking.until_final(request) if patience else request()
            except (Closed, OSError):
                continue
            if answer.status in (200, 201, 404, 409) and answer.problem is None:
                assert told.setdefault(what, (answer.status, answer.body)) == (answer.status, answer.body), what
        return told.get(what)

    def id_in(answer):
        return json.loads(answer[1])["id"] if answer and answer[0] == 201 else None

    paid, dropped = (id_in(twice(f"{name} {n}", lambda: booking.reserve(f"{name}-{n}"))) for n in (1, 2))
    if paid:
        twice(f"{name} pay", lambda: booking.pay(paid, f"{name}-pay"))
    if dropped:
        twice(f"{name} cancel", lambda: booking.cancel(dropped))
    return paid and dropped


@pytest.mark.parametrize("store, kind, what", CASES)
def test_at_every_call(tmp_path, store, kind, what):
    library = preloadable(tmp_path, "one_call.c")
    with Booking(tmp_path, store, lease_ms=300, through_proxy=store != "sqlite") as booking:
        booking.offer(rooms=10_000)
        (service,) = booking.services
        points = 0
        every = 1 if store == "sqlite" else EVERY
        for number in range(random.randint(1, every), ENOUGH, every):
            name = f"{kind}:{number}:{what}"
            came = tmp_path / name
            service.environment = {**preloading(library), "STET_ONE_CALL": name, "STET_ONE_CALL_CAME": str(came),
                                   "STET_ONE_CALL_UNDER": str(tmp_path / "booking.db")}
            told = {}
            try:
                service.restart()
            except AssertionError:
                assert came.exists(), service.output()
            else:
                scenario(booking, told, name)
            if not came.exists():
                break  # there is no such call any more
            points += 1
            service.environment = {}
            service.restart()
            assert scenario(booking, told, name, patience=True), (name, told)
            assert told[f"{name} pay"][0] == 201 and told[f"{name} cancel"][0] == 200, told
            totals = booking.check_books()
            assert totals == {**totals, "reservations": 2 * points, "paid": points, "cancelled": points}, (name, totals)
        print(f"{points} points")
        assert points >= 4, f"only {points} calls: the scenario does not reach what it should"
