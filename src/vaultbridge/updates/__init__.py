"""Bring a vault to a newer release of its template, path by path, as the manifests say; the user's notes never."""

from vaultbridge.updates.application import apply
from vaultbridge.updates.planning import Plan, Step, plan

__all__ = ["Plan", "Step", "apply", "plan"]
