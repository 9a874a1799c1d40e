"""`stet probe` of the booking service, which is killed while it works, on both databases."""

import shlex
import time

import pytest
from support.booking import HOTEL, NIGHT, Booking
from support.probing import probe

ROUNDS = 20
SECONDS = 60  # within which a probe begins


@pytest.fixture(params=["sqlite", "postgresql"])
def booking(request, tmp_path):
    made = Booking(tmp_path, request.param, lease_ms=1000)
    with made:
        made.offer(rooms=100_000)
        # The probe starts it from now on.
        made.services[0].end()
        yield made


def probed(booking, target, body, *arguments):
    host, port = booking.addresses[0]
    return probe("POST", f"http://{host}:{port}{target}", "-d", body, "-H", "Authorization: Bearer ada", "--other-auth",
                 "Authorization: Bearer bob", "--exec", "exec " + shlex.join(booking.service_command(booking.addresses[0])),
                 "--rounds", str(ROUNDS), "--patience", "20s", "--settle", "50ms", *arguments, timeout=280)


def test_reservations_pass_everything(booking):
    verdict = probed(booking, "/reservations", f'{{"hotel_id":{HOTEL},"night":"{NIGHT}","guest":"{{{{uuid}}}}"}}',
                     "--effects", f"GET /hotels/{HOTEL}/reservations", "--count", "/count", "--other", "POST /reservations?again=1",
                     "--bad-body", f'{{"hotel_id":{HOTEL},"night":"{NIGHT}"}}')
    assert verdict.exit_code == 0 and verdict.named("pass") == set(verdict.checks), verdict


def test_payments_pass_everything_that_applies_with_the_providers_own_count(booking):
    # A reservation for each number that the probe may mint within the next seconds.
    booking.services[0].start()
    reservation = booking.reserve().json()["id"]
    booking.services[0].end()
    first = int(time.time()) % 1_000_000 * 1000
    rows = ",".join(f"('{HOTEL}-{n}')" for second in range(SECONDS) for n in range(first + second * 1000, first + second * 1000 + 700))
    same = f"FROM reservations WHERE id = '{reservation}'"
    booking.sql("CREATE TABLE minted (id TEXT)", f"INSERT INTO minted VALUES {rows}",
                f"INSERT INTO reservations (hotel_id, id, account, night, guest, price, status) SELECT hotel_id, m.id, account, night, guest, "
                f"price, status FROM minted m CROSS JOIN (SELECT * {same}) r",
                f"INSERT INTO holds SELECT {HOTEL}, id, '{NIGHT}' FROM minted", "DROP TABLE minted",
                f"UPDATE nights SET free = free - {SECONDS * 700}")
    provider = "http://%s:%d" % booking.provider_address
    # Left out: new-intent (a reservation is paid once, under whatever key) and other-caller (who may not pay it).
    verdict = probed(booking, "/payments", f'{{"reservation_id":"{HOTEL}-{{{{n}}}}","card":"visa"}}', "--effects",
                     f"GET {provider}/charges", "--count", "/data", "--other", "POST /reservations", "--bad-body", '{"card":"visa"}',
                     "--other-body", f'{{"reservation_id":"{HOTEL}-{{{{n}}}}","card":"master"}}', "--skip", "new-intent", "--skip",
                     "other-caller")
    assert verdict.exit_code == 0 and verdict.named("pass") == set(verdict.checks) - {"new-intent", "other-caller"}, verdict
    booking.services[0].start()
    booking.check_books()
