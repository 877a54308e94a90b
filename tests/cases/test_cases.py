"""Real-world trouble, each as one case: what went wrong for others comes out right here."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from tests.cases import adapter, runner

CASES = sorted((Path(__file__).parent / "data").glob("*.json"))

# cases whose subject does not exist yet, with the reason; one that passes is an error, so the list stays true
PENDING: dict[str, str] = {}


@pytest.mark.skipif(sys.platform == "win32", reason="the runner knows POSIX only")
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_the_trouble_of_others_comes_out_right(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "SLOW", float(os.environ.get("CASES_SLOW", "3")))
    verdict, why = runner.Case(path, adapter, keep=False).run()
    if path.stem in PENDING:
        assert verdict != "PASS", f"{path.stem} passes now: take it off the pending list"
        pytest.xfail(PENDING[path.stem])
    if verdict == "SKIP":
        pytest.skip(why)
    assert verdict == "PASS", why


def test_every_pending_case_exists() -> None:
    assert set(PENDING) <= {path.stem for path in CASES}
