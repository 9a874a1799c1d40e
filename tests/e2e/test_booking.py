"""The booking service of the examples: every write sent twice and at once, on both databases; a provider that behaves badly."""

import hashlib
import hmac
import json
import re
import shlex
import subprocess
import time

import pytest
from support.booking import BOB, HOTEL, NIGHT, PRICE, PROVIDER, SECRET, SERVICE, Booking, Child, body_of, is_final, wait_for
from support.concurrently import all_at_once, background
from support.ports import free_port
from support.processes import BINARY, ROOT

COPIES = 8


@pytest.fixture(params=["sqlite", "postgresql", "two on postgresql"])
def booking(request, tmp_path):
    services = 2 if request.param.startswith("two") else 1
    with Booking(tmp_path, "sqlite" if request.param == "sqlite" else "postgresql", services) as made:
        made.offer()
        yield made


def agree(answers):
    """Whoever got an answer got the same one; the others were told to come again. The answer."""
    final = [answer for answer in answers if is_final(answer)]
    assert final, answers
    assert len({body_of(answer)[0] for answer in final}) == 1 and len({answer.body for answer in final}) == 1, final
    for answer in answers:
        assert is_final(answer) or answer.header("Retry-After") is not None, answer
    return final[0]


def told_to_come_again(booking, *payment):
    """Pays until the provider gave no answer. Meanwhile the completer may be at it: then the payment is in progress."""
    def told():
        answer = booking.pay(*payment)
        assert answer.status == 503 or answer.problem == "in-progress", answer
        assert answer.header("Retry-After") == "1", answer
        return answer.status == 503
    wait_for(told, 20, lambda: "the payment is in progress for ever")


def reserved(booking, **more):
    answer = booking.reserve(**more)
    assert answer.status == 201, answer
    return answer.json()["id"]


# ---- rooms ----


def test_a_reservation_sent_twice_and_at_once_holds_one_room(booking, key):
    first = agree(booking.everywhere_at_once(COPIES, lambda service: booking.reserve(key, service=service)))
    again = booking.reserve(key)
    assert first.status == 201 and body_of(again) == body_of(first) and again.replayed
    assert again.header("Location") == "/reservations/" + first.json()["id"]
    assert booking.free() == 4 and len(booking.reservations()) == 1
    booking.totals()


def test_no_room_is_held_twice_and_none_is_left_over(booking):
    def guest(i):
        key = f"guest-{i}"
        service = i % len(booking.services)
        first = booking.until_final(lambda: booking.reserve(key, service=service))
        assert body_of(booking.reserve(key)) == body_of(first)
        return first.status

    assert sorted(all_at_once(16, guest)) == [201] * 5 + [409] * 11
    assert booking.free() == 0
    assert booking.totals()["reservations"] == 5


def test_a_used_key_with_another_body_is_refused_and_another_callers_is_another(booking, key):
    first = booking.reserve(key)
    for _ in range(2):
        other = booking.reserve(key, guest="Eve")
        assert other.status == 422 and other.problem == "key-reused"
        assert first.json()["id"] not in other.body.decode()
    stranger = booking.reserve(key, headers=BOB)
    assert stranger.status == 201 and stranger.json()["id"] != first.json()["id"]
    assert booking.free() == 3
    booking.totals()


def test_refusals_are_repeated_and_hold_nothing(booking):
    for body in ({"hotel_id": HOTEL, "night": NIGHT}, {"hotel_id": HOTEL, "night": NIGHT, "guest": "A\0da"}, {"hotel_id": HOTEL, "night": "2031-12-24", "guest": "Ada"}, {"hotel_id": -1}, []):
        key = next(booking.keys)
        first, second = (booking.send("POST", "/reservations", body, key) for _ in range(2))
        assert first.status in (400, 404) and body_of(first) == body_of(second)
    assert booking.send("POST", "/reservations", {"hotel_id": HOTEL, "night": NIGHT, "guest": "Ada"}).problem == "key-missing"
    assert booking.reserve(headers={}).problem == "scope-undefined"
    assert booking.free() == 5


def test_a_night_offered_twice_keeps_what_was_taken(booking):
    reserved(booking)
    all_at_once(COPIES, lambda _: booking.offer())
    assert booking.free() == 4
    assert booking.send("PUT", f"/hotels/{HOTEL}/nights/{NIGHT}", {"rooms": 50, "price": PRICE}).status == 409


# ---- cancelling ----


def test_a_cancellation_sent_twice_and_at_once_gives_one_room_back(booking, key):
    reservation = reserved(booking, key=key)
    cancelled = agree(booking.everywhere_at_once(COPIES, lambda service: booking.cancel(reservation, service=service)))
    assert body_of(cancelled) == (200, {"id": reservation, "status": "cancelled"}) == body_of(booking.cancel(reservation))
    assert booking.free() == 5
    # A copy of the reservation that was under way all the time shows its answer, and holds nothing.
    assert booking.reserve(key).replayed and booking.free() == 5
    booking.totals()


def test_nobody_cancels_or_pays_what_is_not_theirs(booking):
    reservation = reserved(booking)
    for _ in range(2):
        assert booking.cancel(reservation, headers=BOB).status == 404
        assert booking.pay(reservation, headers=BOB).status == 404
        assert booking.cancel("7-0000").status == 404
    assert booking.free() == 4


def test_of_cancelling_and_paying_at_once_one_wins(booking):
    for round_ in range(10):
        reservation = reserved(booking)
        key = next(booking.keys)
        paying = [background(lambda: booking.until_final(lambda: booking.pay(reservation, key))) for _ in range(2)]
        cancelling = [background(booking.cancel, reservation) for _ in range(2)]
        paid = {call.result(30).status for call in paying}
        cancelled = {call.result(30).status for call in cancelling}
        assert len(paid) == 1
        final = booking.send("GET", f"/reservations/{reservation}").json()["status"]
        assert final == ("paid" if paid == {201} else "cancelled"), (round_, paid, cancelled, final)
        if booking.free() == 0:
            break
    booking.check_books()


# ---- paying ----


def test_a_payment_sent_twice_and_at_once_is_charged_once(booking, key):
    reservation = reserved(booking)
    paid = agree(booking.everywhere_at_once(COPIES, lambda service: booking.pay(reservation, key, service=service)))
    again = booking.pay(reservation, key)
    assert paid.status == 201 and body_of(again) == body_of(paid) and again.replayed
    assert [charge["id"] for charge in booking.charges()] == [paid.json()["charge"]]
    assert booking.check_books()["bank"] == PRICE


def test_two_keys_do_not_pay_one_reservation_twice(booking):
    reservation = reserved(booking)
    keys = [next(booking.keys) for _ in range(4)]
    answers = all_at_once(4, lambda i: booking.until_final(lambda: booking.pay(reservation, keys[i], service=i % len(booking.services))))
    assert sorted(answer.status for answer in answers) == [201, 409, 409, 409]
    assert body_of(booking.pay(reservation, keys[0])) == body_of(answers[0])
    assert len(booking.charges()) == 1
    booking.check_books()


def test_a_declined_card_charges_nothing_and_another_one_pays(booking, key):
    reservation = reserved(booking)
    first, second = (booking.pay(reservation, key, card="declined") for _ in range(2))
    assert first.status == 402 and body_of(first) == body_of(second) and second.replayed
    assert booking.totals()["payments"] == 0
    assert booking.pay(reservation).status == 201
    assert body_of(booking.pay(reservation, key, card="declined")) == body_of(first)
    booking.check_books()


def test_while_the_provider_loses_answers_nobody_is_told_that_the_payment_failed(booking, key):
    reservation = reserved(booking)
    booking.faults(lose=1.0)
    for _ in range(2):
        told_to_come_again(booking, reservation, key)
    assert booking.totals()["paying"] == 1
    assert booking.cancel(reservation).status == 409
    booking.faults(lose=0)
    paid = booking.until_final(lambda: booking.pay(reservation, key))
    assert paid.status == 201 and body_of(booking.pay(reservation, key)) == body_of(paid)
    assert len(booking.charges()) == 1
    booking.check_books()


def test_a_provider_that_is_away_is_asked_again_when_it_is_back(booking, key):
    reservation = reserved(booking)
    booking.provider.kill()
    assert booking.pay(reservation, key).status == 503
    booking.provider.start()
    assert booking.until_final(lambda: booking.pay(reservation, key)).status == 201
    booking.check_books()


def test_a_payment_whose_client_never_comes_back_is_finished_without_it(booking, key):
    reservation = reserved(booking)
    booking.faults(lose=1.0)
    assert booking.pay(reservation, key).status == 503
    booking.faults(lose=0)
    wait_for(lambda: booking.totals()["paid"], 20, lambda: booking.audit())
    assert booking.pay(reservation, key).status == 201
    booking.check_books()


def test_a_payment_that_names_another_hotel_is_finished_without_its_client_as_well(booking, key):
    body = {"reservation_id": reserved(booking), "card": "visa", "hotel_id": HOTEL + 1}
    booking.faults(lose=1.0)
    assert booking.send("POST", "/payments", body, key).status == 503
    booking.faults(lose=0)
    wait_for(lambda: booking.totals()["paid"], 20, lambda: booking.audit())
    assert booking.send("POST", "/payments", body, key).status == 201
    booking.check_books()


def test_a_payment_goes_on_after_a_kill(booking, key):
    reservation = reserved(booking)
    booking.faults(slow=5)
    paying = background(booking.pay, reservation, key)
    wait_for(lambda: booking.totals()["paying"], 20, lambda: booking.audit())
    for service in booking.services:
        service.kill()
    with pytest.raises(Exception):
        paying.result()
    booking.faults(slow=0)
    for service in booking.services:
        service.start()
    answer = booking.until_final(lambda: booking.pay(reservation, key))
    assert answer.status == 201 and body_of(booking.pay(reservation, key)) == body_of(answer)
    booking.check_books()


def test_a_service_that_is_asked_to_end_finishes_what_it_has_begun(booking, key):
    reservation = reserved(booking)
    booking.faults(slow=2)
    paying = background(booking.pay, reservation, key)
    wait_for(lambda: booking.totals()["paying"], 20, lambda: booking.audit())
    for service in booking.services:
        assert service.process.stop() == 0
    paid = paying.result()
    assert paid.status == 201
    for service in booking.services:
        service.start()
    assert body_of(booking.pay(reservation, key)) == body_of(paid)
    booking.check_books()


# ---- webhooks ----


def test_webhooks_that_come_twice_and_at_once_settle_once(booking):
    booking.faults(twice=True, lose=0.2)
    for _ in range(4):
        reservation = reserved(booking)
        key = next(booking.keys)
        assert booking.until_final(lambda: booking.pay(reservation, key)).status == 201
    stats = booking.settle()
    assert stats["deliveries"] > stats["events"] == 4
    assert booking.check_books()["bank"] == 4 * PRICE


def test_a_webhook_that_comes_before_our_own_answer_is_settled_as_well(booking, key):
    reservation = reserved(booking)
    booking.faults(lose=1.0)
    assert booking.pay(reservation, key).status == 503
    wait_for(booking.charges, 20, lambda: "never charged")
    booking.faults(lose=0)
    booking.settle()
    assert booking.until_final(lambda: booking.pay(reservation, key)).status == 201
    booking.check_books()


def event(booking, payment, event_id="evt_1", at=None, secret=SECRET, **more):
    body = json.dumps({"id": event_id, "type": "charge.settled", "payment": payment, "amount": PRICE, **more})
    at = str(int(at if at is not None else time.time()))
    signature = hmac.new(secret.encode(), f"{event_id}.{at}.{body}".encode(), hashlib.sha256).hexdigest()
    headers = {"webhook-id": event_id, "webhook-timestamp": at, "webhook-signature": signature, "Content-Type": "application/json"}
    return booking.send("POST", "/webhooks/provider", body.encode(), headers=headers)


def test_forged_and_ancient_webhooks_are_refused(booking):
    for _ in range(2):
        assert event(booking, "7-abc", secret="guessed").status == 401
        assert event(booking, "7-abc", at=time.time() - 3600).status == 401
        assert booking.send("POST", "/webhooks/provider", {"type": "charge.settled"}).status == 401
    assert booking.totals()["bank"] == 0


def test_events_that_nobody_knows_are_taken_and_move_no_money(booking):
    for _ in range(2):
        assert event(booking, "7-abc", "evt_0", type="charge.disputed").json() == {"ignored": True}
        assert event(booking, "7-abc", "evt_1").json() == {"ignored": True}
        assert event(booking, "7-abc", "").status == 400
    assert booking.totals()["bank"] == 0


def test_a_settlement_counts_once_and_for_what_was_charged(booking):
    payment = booking.pay(reserved(booking)).json()["id"]
    booking.settle()
    for amount in (PRICE + 1, -PRICE, 0, float(PRICE), None):
        assert event(booking, payment, "evt_1", amount=amount).status == 409, amount
    for event_id in ("evt_1", "evt_2", "evt_2"):
        assert event(booking, payment, event_id).json() == {"received": "before"}
    assert booking.check_books()["bank"] == PRICE


def test_a_provider_that_charges_another_amount_is_not_taken_at_its_word(booking, key):
    reservation = reserved(booking)
    booking.faults(more=100)

    def someone_can_look_into_it():
        for _ in range(2):
            told_to_come_again(booking, reservation, key)
        return any("the provider says 201" in service.output() for service in booking.services)

    # Not at once where the machine is so busy that the service gives the provider up before its answer comes.
    wait_for(someone_can_look_into_it, 30, lambda: [service.output() for service in booking.services])
    wait_for(lambda: booking.ask_provider("/stats")["deliveries"], 20, lambda: "the provider says nothing of it")
    totals = booking.totals()
    assert totals["paying"] == 1 and totals["paid"] == totals["revenue"] == totals["bank"] == 0, totals


def test_amounts_that_cannot_be_added_up_are_refused(booking):
    for price in (2**63, 2**63 - 1, 10**9 + 1, 0, -1, 1.5, "7", None):
        answers = [booking.send("PUT", "/hotels/9/nights/2031-01-01", {"rooms": 1, "price": price}) for _ in range(2)]
        assert {answer.status for answer in answers} == {400}, price
    assert booking.send("PUT", "/hotels/9/nights/2031-01-01", {"rooms": 10**9, "price": 10**9}).status == 200
    booking.totals()


def test_odd_requests_are_refused_and_none_is_our_mistake(booking):
    deep = b"[" * 10_000
    hold = b'{"hotel_id":7,"night":"2031-05-01","guest":%s}'
    bodies = (b"", b"{", b"null", b"\xff\xfe", deep, hold % b'"\\ud800"', hold % b'"\xff"', hold % b"1e999", hold % b'"a', b"x" * 70_000, b"x" * 10_000_000)
    for body in bodies:
        for target in ("/reservations", "/payments", "/webhooks/provider", "/reservations/7-a/cancel"):
            for _ in range(2):
                answer = booking.send("POST", target, body, key="odd-" + str(len(body)))
                assert 400 <= answer.status < 500, (target, body[:40], answer)
    for target in ("/reservations/" + "a" * 8000, "/hotels/" + "9" * 8000 + "/nights/2031-05-01", "/reservations/-", "/reservations/" + "9" * 30 + "-a", "/%00"):
        assert booking.send("GET", target).status == 404
    assert booking.free() == 5
    booking.totals()


# ---- where it lies ----


def test_on_postgresql_a_hotels_rows_and_keys_lie_in_one_partition_each(booking, key):
    if booking.on == "sqlite":
        pytest.skip("SQLite has no partitions")
    reservation = reserved(booking, key=key)
    assert booking.reserve(key).json()["id"] == reservation
    server, database = booking.database

    def touched(statement):
        plan = "\n".join(line for (line,) in server.query("explain " + statement, database=database))
        return len(set(re.findall(r"(?:Scan|Update)\S* (?:using \S+ )?on (\w+_\d+)", plan))), plan

    for statement in (f"update nights set free = free - 1 where hotel_id = {HOTEL} and night = '{NIGHT}' and free > 0",
                      f"update reservations set status = 'cancelled' where hotel_id = {HOTEL} and id = '{reservation}' and status = 'held'",
                      f"select amount from payments where hotel_id = {HOTEL} and id = 'x'"):
        partitions, plan = touched(statement)
        assert partitions == 1, plan
    scopes = server.query("select distinct convert_from(scope, 'UTF8') from stet.operations", database=database)
    assert [scope for (scope,) in scopes if scope.startswith(f"{HOTEL}-")], scopes


# ---- the README ----


def test_the_commands_of_the_readme_do_what_they_say(tmp_path):
    readme = (ROOT / "examples/booking/README.md").read_text()
    blocks = [block.split("```", 1)[0] for block in readme.split("```sh\n")[1:]]
    starting, trying, on_postgresql, probing = blocks
    assert "schema apply" in on_postgresql
    ports = {port: str(free_port()) for port in ("8090", "8091")}

    def here(text):
        text = text.replace("build/dev/examples/booking/booking", str(SERVICE)).replace("build/dev/apps/stet/stet", BINARY)
        text = text.replace("examples/booking/provider.py", str(PROVIDER))
        for written, free in {"/tmp/booking": str(tmp_path), **ports}.items():
            text = text.replace(written, free)
        return text

    provider, service = starting.splitlines()[2:]
    where = ["--listen", f"127.0.0.1:{ports['8091']}", "--webhook", f"http://127.0.0.1:{ports['8090']}/webhooks/provider"]
    children = [Child([*shlex.split(here(provider).rstrip(" &")), *where]),
                Child([*shlex.split(here(service)), "--listen", f"127.0.0.1:{ports['8090']}", "--provider",
                       f"http://127.0.0.1:{ports['8091']}",
                       "--lease-ms", "60000"])]  # the completer comes as seldom, and no payment is in progress by it
    try:
        for child in children:
            child.start()
        run = subprocess.run(["bash", "-c", here(trying)], capture_output=True, text=True, timeout=120, cwd=ROOT)
        lines = [line for line in run.stdout.splitlines() if line.startswith(("{", "HTTP"))]
        two_nights, reservation, again, *_, stats, audit = lines[1:]
        assert reservation == again and json.loads(reservation)["status"] == "held", run.stdout
        assert any(line.startswith("HTTP/1.1 503") for line in lines), run.stdout
        assert json.loads(stats)["charges"] == 1 and not any(json.loads(audit)["wrong"].values()), run.stdout
        assert json.loads(audit)["totals"]["payments"] == 1 and two_nights
        children[1].kill()
        command = here(probing).rstrip().replace(str(tmp_path) + "/booking.db'", f"{tmp_path}/booking.db --listen 127.0.0.1:{ports['8090']}'")
        run = subprocess.run(["bash", "-c", f"{command} --rounds 3"], capture_output=True, text=True, timeout=300, cwd=ROOT)
        assert run.returncode == 0, run.stdout + run.stderr
    finally:
        for child in children:
            child.end()
