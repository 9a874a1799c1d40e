"""A short booking campaign (booking_campaign.py): the service and its provider killed at random moments under load."""

from faults.booking_campaign import campaign
from support.postgres import Cluster


def test_whatever_is_killed_on_sqlite_each_answered_key_has_one_effect_and_the_books_balance(tmp_path):
    campaign(20, "sqlite", directory=tmp_path)


def test_the_same_on_postgresql_with_two_services(tmp_path):
    campaign(20, "postgresql", services=2, directory=tmp_path)


def test_the_same_while_postgresql_itself_crashes(tmp_path):
    with Cluster() as server:
        campaign(15, "postgresql", services=2, directory=tmp_path, server=server)
