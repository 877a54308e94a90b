"""Skills and agents: written once in the portable form, mirrored to where each agent looks for them, and checked."""

from vaultbridge.skills.mirror import build, drift
from vaultbridge.skills.specification import check

__all__ = ["build", "check", "drift"]
