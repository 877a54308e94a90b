"""Each kind of drift is found, capped, and gone when its cause is."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hooks.running import GOOD, hook, scan
from vaultcore.session import hygiene
from vaultcore.session import scan as scanning

DONE = "---\nstatus: Completed\n---\n"
LOOP = "# A\n\n## Action items\n\n- [ ] secret words\n- [x] done\n\n## Other\n\n- [ ] not a loop\n\nwaiting on Bob\n"


def flags(root: Path) -> dict[str, dict]:
    scan(root)
    found = json.loads((root / ".cache/session/hygiene.json").read_text())
    return {flag["kind"]: flag for flag in found["flags"]}


def aged(root: Path, days: int) -> Path:
    then = time.time() - days * 86_400 - 60
    for path in root.rglob("*.md"):
        os.utime(path, (then, then))
    return root


@pytest.mark.parametrize(
    ("kind", "files", "cure"),
    [
        ("done work not archived", {"work/active/T/A.md": DONE}, "work/active/T/A.md"),
        ("unfiled notes in the inbox", {"inbox/A.md": GOOD, "inbox/Inbox.md": GOOD}, "inbox/A.md"),
        ("proposed memories nobody ruled on", {"memories/_inbox/A.md": GOOD}, "memories/_inbox/A.md"),
        (
            "meeting notes older than 7 days",
            {"work/meetings/A.md": GOOD, "work/meetings/README.md": GOOD},
            "work/meetings/A.md",
        ),
        ("open loops", {"work/incidents/A.md": LOOP}, "work/incidents/A.md"),
        (
            "conflict copies left by a sync tool",
            {"org/A (conflicted copy 2026-11-01).md": GOOD},
            "org/A (conflicted copy 2026-11-01).md",
        ),
        (
            "subjects with loose notes in work/active",
            {f"work/active/{n}.md": GOOD for n in ("Billing a", "Billing b", "Billing c", "x1", "x2", "x3")},
            "work/active/Billing a.md",
        ),
        ("notes over 25 kB", {"org/A.md": "x" * 25_000, "org/A Archive.md": "x" * 25_000}, "org/A.md"),
    ],
)
def test_each_flag_is_raised_by_its_cause_and_cleared_with_it(
    kind: str, files: dict[str, str], cure: str, room: Callable[..., Path]
) -> None:
    root = aged(room(files), 20)
    assert flags(root)[kind]["count"] == 1
    (root / cure).unlink()
    assert kind not in flags(root)


def test_a_flag_names_five_and_counts_all_and_the_manifest_says_how_many(room: Callable[..., Path]) -> None:
    files = {f"work/active/{i:02}.md": DONE for i in range(40)}
    flag = flags(room(files))["done work not archived"]
    assert flag["count"] == 40 and len(flag["items"]) == 5
    manifest = {"vault-manifest.json": '{"hygiene": {"cap": 2, "split_bytes": 100}}'}
    found = flags(room({**files, **manifest, "org/A.md": "x" * 200}))
    assert len(found["done work not archived"]["items"]) == 2 and "notes over 0 kB" in found


def test_open_loops_show_where_and_how_many_never_what(room: Callable[..., Path]) -> None:
    files = {"work/incidents/A.md": LOOP, "work/1-1/Ada 2026-01-01.md": LOOP, "work/1-1/Ada 2026-02-01.md": GOOD}
    flag = flags(aged(room(files), 20))["open loops"]
    assert flag["items"] == ["work/incidents/A.md (20 days, 2 open)"]
    before = {"work/1-1/2026-01-01 Ada.md": LOOP, "work/1-1/2026-02-01 Ada.md": GOOD}
    assert "open loops" not in flags(aged(room(before, "other"), 20))


def test_a_recent_note_is_no_open_loop(room: Callable[..., Path]) -> None:
    assert "open loops" not in flags(aged(room({"work/incidents/A.md": LOOP}), 13))


def test_broken_links_and_orphans_come_from_the_index(room: Callable[..., Path]) -> None:
    from vaultcore.index import open_index

    files = {"org/A.md": "[[Home]] [[gone]] [[lost]]\n", "org/B.md": "[[A]]\n", "org/C.md": "alone\n"}
    root = room({**files, "thinking/T.md": "[[gone]]\n"})
    index = open_index(str(root))
    index.refresh()
    index.close()
    found = flags(root)
    assert found["notes with broken links"]["items"] == ["org/A.md (2)"]
    assert "org/C.md" in found["notes without any link"]["items"]
    assert not {"org/A.md", "org/B.md"} & set(found["notes without any link"]["items"])


def test_clusters_need_company_and_ignore_words_of_the_trade() -> None:
    names = [
        "Billing plan.md",
        "Billing review.md",
        "2026-01-01 Billing.md",
        "決済 設計.md",
        "決済 移行.md",
        "決済 障害.md",
        "Plan b.md",
        "Plan c.md",
    ]
    found = hygiene.clusters(names, 3)
    assert [word for word, _ in found] == ["billing", "決済"]
    assert hygiene.clusters(names[:3], 3) == []


def test_a_detector_that_breaks_is_named_and_the_others_go_on(
    room: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def oversized(vault: hygiene.Vault) -> None:
        raise RuntimeError

    monkeypatch.setattr(hygiene, "DETECTORS", (oversized, hygiene.completed))
    root = room({"work/active/A.md": DONE})
    scanning.run(str(root), "")
    found = scanning.load(str(root))
    assert found is not None
    assert [flag["kind"] for flag in found["flags"]] == ["done work not archived"]
    assert found["unchecked"][0] == "oversized (RuntimeError)"


def test_the_briefing_shows_each_flag_on_one_line(room: Callable[..., Path]) -> None:
    root = room({f"work/active/{i}\n## x.md": DONE for i in range(9)})
    scan(root)
    text = hook("session_start", root).context
    (line,) = [line for line in text.splitlines() if "done work" in line]
    assert line.startswith("- 9 done work not archived: ") and "; 6 more." in line
