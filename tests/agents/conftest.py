"""What every test with a real agent needs: no network, and the agent itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.agents import rig


@pytest.fixture(scope="session")
def offline() -> None:
    """Leave nothing but loopback to this process, so that a CLI cannot reach anybody."""
    if not rig.isolate_network():
        pytest.skip("no network namespace here: the agents are not started where they could reach a network")


@pytest.fixture(params=["codex", "gemini"])
def agent(request: pytest.FixtureRequest, offline: None) -> str:
    """The name of an installed agent; one run per agent."""
    return installed(request.param)


@pytest.fixture
def bench(agent: str, tmp_path: Path) -> rig.Bench:
    """A throw-away home and project for one agent."""
    return rig.Bench(tmp_path / "bench", agent)


@pytest.fixture
def codex(offline: None, tmp_path: Path) -> rig.Bench:
    return rig.Bench(tmp_path / "bench", installed("codex"))


@pytest.fixture
def gemini(offline: None, tmp_path: Path) -> rig.Bench:
    return rig.Bench(tmp_path / "bench", installed("gemini"))


def installed(agent: str) -> str:
    if not rig.cli(agent):
        pytest.skip("skipped: not installed")
    return agent
