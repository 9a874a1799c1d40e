"""A short booking campaign (booking_campaign.py): the service and its provider killed at random moments under load."""

from faults.booking_campaign import campaign


def test_whatever_is_killed_on_sqlite_each_answered_key_has_one_effect_and_the_books_balance(tmp_path):
    campaign(25, "sqlite", directory=tmp_path)


def test_the_same_on_postgresql_with_two_services(tmp_path):
    campaign(25, "postgresql", services=2, directory=tmp_path)
