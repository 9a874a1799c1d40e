"""The kill campaign, briefly, for each policy; hours of it: tests/faults/campaign.py SECONDS."""

import os

import pytest
from faults.campaign import Campaign

SECONDS = float(os.environ.get("STET_CAMPAIGN_SECONDS", "30"))


@pytest.mark.parametrize("policy, share", [("fail", 0.5), ("retry", 0.25), ("ask", 0.25)])
def test_nothing_is_lost_or_doubled_whenever_the_gateway_is_killed(policy, share):
    assert Campaign(SECONDS * share, policy).run() == []
