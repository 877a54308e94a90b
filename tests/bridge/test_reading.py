"""Finding, reading and following notes through the tools, without a client in between."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from vaultbridge.bridge import Bridge
from vaultbridge.tools import expand, read, search
from vaultcore.errors import Refusal
from vaultcore.identity import ANONYMOUS

MANIFEST = '{"mcp_exposed_roots": ["brain", "work"], "mcp_never_expose": ["work/hr"]}'
NOTES = {
    "vault-manifest.json": MANIFEST,
    "brain/Queue.md": "---\naliases: [Retry queue]\nid: q-1\n---\n# Queue\n\nDrains before cutover.\n\n"
    "## Why\n\nBecause locks.\n\n- first ^why1\n\n## How\n\nSee [[Plan]], [[Ghost]], [[Pay]] and [[work/Plan]].\n",
    "brain/Plan.md": "# Plan\n\nLinked to [[Queue]].\n",
    "work/Plan.md": "# Plan\n\nAnother plan, about [[Retry queue]].\n",
    "work/hr/Pay.md": "# Pay\n\nsecretword\n",
    "brain/Diary.md": "---\nprivate: true\n---\n# Diary\n\nsecretword\n",
    "other/Out.md": "# Out\n\nsecretword\n",
}


@pytest.fixture
def bridge(vault: Callable[..., Path]) -> Any:
    held = Bridge(str(vault(NOTES)))
    held.refresh()
    yield held
    held.close()


@pytest.mark.parametrize(
    "name",
    [
        "brain/Queue.md",
        "brain/Queue",
        "Queue",
        "queue",
        "Retry queue",
        "q-1",
        "[[Queue|shown]]",
        "vault://note/brain/Queue.md",
    ],
)
def test_a_note_is_read_by_any_of_its_names(bridge: Bridge, name: str) -> None:
    assert "Drains before cutover." in read.run(bridge, ANONYMOUS, {"note": name})


@pytest.mark.parametrize(
    "name",
    [
        "work/hr/Pay.md",
        "WORK/HR/pay.md",
        "Pay",
        "Diary",
        "other/Out.md",
        "../vault/brain/Queue.md",
        "/etc/passwd",
        "a" * 900,
    ],
)
def test_what_is_withheld_and_what_is_missing_get_the_same_answer(bridge: Bridge, name: str) -> None:
    with pytest.raises(Refusal) as refused:
        read.run(bridge, ANONYMOUS, {"note": name})
    assert refused.value.code == "no-such-note"
    assert "secretword" not in str(refused.value)


def test_a_name_of_two_notes_lists_both_paths(bridge: Bridge) -> None:
    with pytest.raises(Refusal) as refused:
        read.run(bridge, ANONYMOUS, {"note": "Plan"})
    assert refused.value.code == "ambiguous"
    assert "brain/Plan.md" in refused.value.next and "work/Plan.md" in refused.value.next


@pytest.mark.parametrize(
    ("arguments", "has", "lacks"),
    [
        ({"section": "Why"}, "Because locks.", "Drains"),
        ({"section": "Queue > How"}, "See [[Plan]]", "Because"),
        ({"block": "why1"}, "- first", "Because"),
    ],
)
def test_a_part_of_a_note_is_read_alone(bridge: Bridge, arguments: dict[str, str], has: str, lacks: str) -> None:
    text = read.run(bridge, ANONYMOUS, {"note": "Queue", **arguments})
    assert has in text and lacks not in text


def test_a_missing_section_is_answered_with_the_headings_there_are(bridge: Bridge) -> None:
    with pytest.raises(Refusal) as refused:
        read.run(bridge, ANONYMOUS, {"note": "Queue", "section": "Whence"})
    assert "Why" in refused.value.next and "How" in refused.value.next


def test_the_pages_of_a_long_note_are_the_whole_note(vault: Callable[..., Path]) -> None:
    body = "# Long\n\n" + "".join(f"line {n} of a long note\n" for n in range(4_000))
    bridge = Bridge(str(vault({"vault-manifest.json": MANIFEST, "brain/Long.md": body})))
    pages, given = [], {"note": "Long"}
    while True:
        text = read.run(bridge, ANONYMOUS, dict(given))
        pages.append(re.search(r"<note-\w+[^\n]*>\n(.*)\n</note-", text, re.S).group(1))  # type: ignore[union-attr]
        more = re.search(r"with cursor (\S+)", text)
        if not more:
            break
        given["cursor"] = more.group(1)
    assert "\n".join(page.removesuffix("\n") for page in pages) == body.removesuffix("\n")
    bridge.close()


def test_a_cursor_of_a_changed_note_is_refused(vault: Callable[..., Path]) -> None:
    root = vault({"vault-manifest.json": MANIFEST, "brain/Long.md": "x\n" * 40_000})
    bridge = Bridge(str(root))
    given = re.search(r"with cursor (\S+)", read.run(bridge, ANONYMOUS, {"note": "Long"})).group(1)  # type: ignore[union-attr]
    (root / "brain/Long.md").write_text("y\n" * 40_000)
    with pytest.raises(Refusal, match="changed since"):
        read.run(bridge, ANONYMOUS, {"note": "Long", "cursor": given})
    bridge.close()


@pytest.mark.parametrize("cursor", ["", "x", "-1-abcdefgh", "999999-abcdefgh", "٣-abcdefgh"])
def test_a_cursor_from_elsewhere_is_refused_or_the_start(bridge: Bridge, cursor: str) -> None:
    if not cursor:
        assert "Drains" in read.run(bridge, ANONYMOUS, {"note": "Queue", "cursor": cursor})
        return
    with pytest.raises(Refusal):
        read.run(bridge, ANONYMOUS, {"note": "Queue", "cursor": cursor})


def test_links_are_followed_both_ways_and_hidden_ones_only_counted(bridge: Bridge) -> None:
    text = expand.run(bridge, ANONYMOUS, {"note": "Queue"})
    assert "brain/Plan.md" in text and "work/Plan.md" in text
    assert "Ghost" in text.split("Leading nowhere")[1]
    assert "1 more to notes the policy withholds" in text
    assert "Pay" not in text


def test_a_search_says_how_much_the_policy_withheld(bridge: Bridge) -> None:
    text = search.run(bridge, ANONYMOUS, {"query": "secretword"})
    assert "withheld" in text and "Diary" not in text and "Pay" not in text


def test_an_empty_query_is_refused_and_not_answered_with_nothing(bridge: Bridge) -> None:
    with pytest.raises(Refusal, match="no words"):
        search.run(bridge, ANONYMOUS, {"query": "  \n"})


def test_a_vanished_vault_is_said_to_be_unavailable(vault: Callable[..., Path]) -> None:
    root = vault(NOTES)
    bridge = Bridge(str(root))
    root.rename(root.with_name("away"))
    for call in (
        lambda: search.run(bridge, ANONYMOUS, {"query": "queue"}),
        lambda: expand.run(bridge, ANONYMOUS, {"note": "Queue"}),
    ):
        with pytest.raises(Exception, match="not available"):
            call()
    root.with_name("away").rename(root)
    assert "brain/Queue.md" in search.run(bridge, ANONYMOUS, {"query": "queue"})
    bridge.close()
