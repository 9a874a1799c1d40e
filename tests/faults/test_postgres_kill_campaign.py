"""The kill campaign on PostgreSQL, briefly; longer: tests/faults/campaign.py SECONDS --store postgresql --policy join."""

import os

import pytest
from faults.postgres_campaign import PostgresCampaign

SECONDS = float(os.environ.get("STET_CAMPAIGN_SECONDS", "30"))


@pytest.mark.parametrize("policy, share", [("join", 0.5), ("fail", 0.3)])
def test_nothing_is_lost_or_doubled_whichever_part_is_killed(policy, share):
    assert PostgresCampaign(SECONDS * share, policy).run() == []
