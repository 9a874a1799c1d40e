"""The referees of the booking campaign notice what they are there for: the books with one thing wrong in each."""

import sqlite3

import pytest
from faults.booking_campaign import Campaign, Operation
from support.booking import ADA, HOTEL, PRICE, Booking
from support.http_client import Answer

WRONG = {
    "a room too many is free": "UPDATE nights SET free = free + 1",
    "a hold is gone": "DELETE FROM holds",
    "a hold is there twice": f"INSERT INTO holds VALUES ({HOTEL}, '{HOTEL}-dead', '2031-05-01')",
    "an entry has no counterpart": "DELETE FROM entries WHERE account = 'revenue'",
    "an amount was changed": "UPDATE entries SET amount = amount + 1 WHERE account = 'provider' AND leg = 'charge'",
    "a charged payment has no entries": "DELETE FROM entries WHERE leg = 'charge'",
    "a payment that was not charged has entries": "UPDATE payments SET status = 'accepted'",
    "a reservation is paid by nobody": "UPDATE reservations SET status = 'paid' WHERE status = 'held'",
    "a reservation is paid twice": "INSERT INTO payments SELECT hotel_id, id || 'b', reservation_id, amount, card, status, charge_id FROM payments",
    "a payment hangs": "UPDATE reservations SET status = 'paying' WHERE status = 'held'",
    "a settlement is missing": "DELETE FROM entries WHERE leg = 'settlement'",
    "a settlement is of another amount": "UPDATE entries SET amount = amount * 2 WHERE leg = 'settlement'",
}
AT_THE_PROVIDER = {
    "it has charged again": "INSERT INTO charges SELECT key || 'b', id || 'b', payment, asked, amount, card, status FROM charges",
    "it has charged another amount": f"UPDATE charges SET amount = {PRICE + 1}",
    "it has charged nothing": "DELETE FROM charges",
}


@pytest.fixture
def booking(tmp_path):
    with Booking(tmp_path) as made:
        made.offer()
        paid, held = (made.reserve().json()["id"] for _ in range(2))
        for _ in range(2):
            assert made.pay(paid, "the-key").status == 201
        made.check_books()
        yield made


@pytest.mark.parametrize("what", WRONG)
def test_in_the_books(booking, what):
    (service,) = booking.services
    service.kill()
    booking.sql(WRONG[what])
    service.start()
    with pytest.raises(AssertionError):
        booking.check_books()


@pytest.mark.parametrize("what", AT_THE_PROVIDER)
def test_at_the_provider(booking, tmp_path, what):
    booking.provider.kill()
    with sqlite3.connect(tmp_path / "provider.db") as db:
        db.execute(AT_THE_PROVIDER[what])
    booking.provider.start()
    with pytest.raises(AssertionError):
        booking.check_books()


def test_an_answer_that_changes(booking):
    operation = Operation("reserve", "POST", "/reservations", {}, "k", ADA)
    operation.take(Answer(201, "", [], b'{"id":"7-1"}', []))
    operation.take(Answer(201, "", [], b'{"id":"7-1"}', []))
    with pytest.raises(AssertionError):
        operation.take(Answer(201, "", [], b'{"id":"7-2"}', []))


def test_an_effect_without_an_answer_that_says_so(booking):
    campaign = Campaign(booking, 1, 1)
    campaign.operations = [Operation("pay", "POST", "/payments", {"reservation_id": "7-0", "card": "visa"}, "k2", ADA)]
    with pytest.raises(AssertionError):  # two reservations and a payment that none of its clients made
        campaign.judge()
