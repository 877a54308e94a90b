"""Every call leaves one line that nobody can forge, and old days go whole."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import audit
from vaultcore.identity import Caller

ROOT = Path(__file__).resolve().parents[2]


def test_a_record_says_who_asked_and_when(vault: Callable[..., Path]) -> None:
    log = audit.Audit(str(vault({".om/log/.keep": ""})))
    log.record("search", Caller("atlas", source="roots"), query="retry queue", hits=3)
    (line,) = log.lines()
    assert line["action"] == "search" and line["caller"] == "atlas" and line["source"] == "roots"
    assert line["query"] == "retry queue" and line["at"].startswith(time.strftime("%Y-%m-", time.gmtime()))


@pytest.mark.parametrize("hide", ["{}", "see {} there", "A" * 300 + " {}"])
def test_a_key_that_was_asked_for_is_never_logged(vault: Callable[..., Path], hide: str) -> None:
    root = vault({".om/log/.keep": ""})
    key = "sk-" + "a1B2c3D4e5F6g7H8i9J0k1L2"
    text = hide.replace("{}", key)
    audit.Audit(str(root)).record("search", None, query=text, arguments={"note": text, "paths": [text], text: 1})
    logged = "".join(path.read_text() for path in (root / ".om" / "audit").glob("*.jsonl"))
    assert key[:16] not in logged
    assert logged.count("[openai-key, ") == 4


@pytest.mark.parametrize("name", audit.OWN)
def test_a_field_never_takes_the_place_of_ours(vault: Callable[..., Path], name: str) -> None:
    log = audit.Audit(str(vault({".om/log/.keep": ""})))
    if name in ("action", "caller"):  # those are parameters of record itself
        return
    log.record("search", Caller("atlas"), **{name: "forged"})
    (line,) = log.lines()
    assert line[name] != "forged" and line[f"field.{name}"] == "forged"


@pytest.mark.parametrize("value", ['x"}\n{"action":"forged"}', "a\x00b", "\ud800", "y" * 100_000, ["z" * 9_000] * 500])
def test_no_value_breaks_or_bloats_a_line(vault: Callable[..., Path], value: object) -> None:
    root = vault({".om/log/.keep": ""})
    log = audit.Audit(str(root))
    log.record("search", None, query=value)
    (path,) = (root / ".om" / "audit").glob("*.jsonl")
    data = path.read_bytes()
    assert data.count(b"\n") == 1 and len(data) <= audit.LINE_BYTES + 1
    assert json.loads(data)["action"] == "search"


def test_lines_of_several_processes_stay_whole(vault: Callable[..., Path]) -> None:
    root = vault({".om/log/.keep": ""})
    program = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from vaultbridge.audit import Audit\n"
        "log = Audit(sys.argv[2])\n"
        "for n in range(100): log.record('search', None, query='q' * 300, n=n)\n"
    )
    call = [sys.executable, "-c", program, str(ROOT / "src"), str(root)]
    started = [subprocess.Popen(call) for _ in range(4)]
    assert [process.wait() for process in started] == [0] * 4
    lines = list(audit.Audit(str(root)).lines())
    assert len(lines) == 400 and all(line["query"] == "q" * 300 for line in lines)


def test_old_days_go_whole_and_what_they_refused_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(audit, "KEEP_DAYS", 2)
    for day in range(1, 6):
        lines = [{"action": "refused", "n": day}, {"action": "search", "n": day}]
        (tmp_path / f"2026-01-0{day}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    audit.prune(str(tmp_path), "2026-02-01")
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "2026-01-04.jsonl",
        "2026-01-05.jsonl",
        "refused-2026-01.jsonl",
    ]
    kept = [json.loads(line) for line in (tmp_path / "refused-2026-01.jsonl").read_text().splitlines()]
    assert [line["n"] for line in kept] == [1, 2, 3] and {line["action"] for line in kept} == {"refused"}


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights bind only an ordinary POSIX user")
def test_a_read_only_vault_is_audited_in_the_cache_folder(vault: Callable[..., Path]) -> None:
    root = vault({".om/log/.keep": ""})
    root.chmod(0o500)
    try:
        log = audit.Audit(str(root))
        log.record("search")
        assert log.problem is None and len(list(log.lines())) == 1
    finally:
        root.chmod(0o700)


def test_a_folder_that_has_no_om_yet_is_left_as_it_is(vault: Callable[..., Path]) -> None:
    root = vault()
    log = audit.Audit(str(root))
    log.record("search")
    assert sorted(path.name for path in root.iterdir()) == ["vault-manifest.json"] and len(list(log.lines())) == 1


def test_git_never_sees_what_was_asked(vault: Callable[..., Path]) -> None:
    root = vault({".om/log/.keep": ""})
    audit.Audit(str(root)).record("search")
    assert (root / ".om" / "audit" / ".gitignore").read_text() == "*\n"


def test_a_folder_in_the_way_costs_the_record_and_not_the_reply(vault: Callable[..., Path]) -> None:
    root = vault({".om/log/.keep": ""})
    day = time.strftime("%Y-%m-%d", time.gmtime())
    (root / ".om" / "audit" / f"{day}.jsonl").mkdir(parents=True)
    log = audit.Audit(str(root))
    log.record("search")
    assert len(list(log.lines())) == 1  # in the cache folder
