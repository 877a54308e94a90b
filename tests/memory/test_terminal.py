"""What a person at a terminal sees: plain text, ids and the commands that undo, questions answered by a letter."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.memory.conftest import writer
from tests.memory.world import memory, om, person
from vaultcore.memory.memories import Memories
from vaultcore.memory.recording import remember

Vault = Callable[..., Path]
EXPOSED = json.dumps({"mcp_exposed_roots": ["brain"]})
NOTE = "# Whole note\n\n## Ports\n\n- use 8080 ^port\n\n## Hosts\n\n- fern ^host\n\n## Empty\n"
FRAMES = re.compile(r"<\w+-[0-9a-f]{8}")


def tell(root: Path, title: str, body: str, project: str = "alpha", **more: object) -> str:
    """Record a memory of `project` and return its id."""
    given: dict[str, object] = {"title": title, "body": body, "confidence": "inferred", **more}
    made = remember(Memories(str(root)), given, writer(project)).record
    assert made is not None
    return made.key


@pytest.mark.parametrize(
    ("marker", "says"),
    [
        ("NoNote#x", "'NoNote' is no note"),
        ("NoNote#^x", "'NoNote' is no note"),
        ("brain/Rules#Nothing", "has no heading 'Nothing'"),
        ("brain/Rules#^nothing", "has no block ^nothing"),
        ("brain/Rules#Whole note", "'Whole note' is the heading of the whole note"),
        ("brain/Rules#Empty", "Empty' holds no text"),
        ("brain/Rules", "names no block or heading"),
        ("memories/2026/03/Old#Old", "is itself a memory"),
    ],
)
def test_a_memory_is_promoted_only_into_what_is_there(vault: Vault, marker: str, says: str) -> None:
    root = vault({"vault-manifest.json": EXPOSED, "brain/Rules.md": NOTE})
    memory(root, "Old", "An older one.")
    made = tell(root, "The port", "It is 80.")
    code, shown = person(root, "promote", made, marker)
    flat = " ".join(shown.split())
    assert code == 1 and says in flat, shown
    if marker.startswith("brain/Rules#"):
        assert "Ports" in flat and "Hosts" in flat and "^port" in flat and "^host" in flat
    assert "promoted" not in "".join(p.read_text("utf-8") for p in (root / "memories").rglob("*.md"))


@pytest.mark.parametrize("marker", ["brain/Rules#^port", "brain/Rules#Ports", "Rules#^port", "[[Rules#Ports]]"])
def test_a_promotion_into_a_block_or_section_is_served(vault: Vault, marker: str) -> None:
    root = vault({"vault-manifest.json": EXPOSED, "brain/Rules.md": NOTE})
    made = tell(root, "The port", "It is 80.")
    code, shown = person(root, "promote", made, marker)
    assert code == 0 and "not exposed" not in shown, shown
    assert "use 8080" in om(root, "recall", OM_PROJECT="alpha", cwd=root.parent).stdout


def test_a_promotion_into_a_note_nobody_else_may_read_says_so(vault: Vault) -> None:
    root = vault({"vault-manifest.json": EXPOSED, "work/Secret.md": NOTE})
    code, shown = person(root, "promote", tell(root, "The port", "It is 80."), "work/Secret#Ports")
    assert code == 0 and "work/Secret.md is not exposed: other repositories go on with the memory's own text" in shown


def test_forget_names_the_id_and_the_command_that_undoes_it(vault: Vault) -> None:
    root = vault()
    made = tell(root, "A secret plan of walruses", "They meet at noon.")
    code, shown = person(root, "forget", made, "--reason", "not ours", "--yes")
    assert code == 0 and f"Forgotten: {made}" in shown and f"om restore {made}" in shown
    log = om(root, "log").stdout
    assert made in log and "walruses" not in log and "forget" in log, log
    code, shown = person(root, "restore", made)
    assert code == 0 and "Its text is back" in shown
    code, shown = person(root, "restore", "m-nothing")
    assert code == 1 and "om log" in shown
    assert made in om(root, "log").stdout.splitlines()[-1]


def test_at_a_terminal_memories_are_read_as_plain_text(vault: Vault) -> None:
    root = vault()
    made = tell(root, "Parser stays pure", "It has no state.\n\nNot even a cache. \x1b[31mred")
    for words in (("recall",), ("recall", "parser"), ("timeline", made)):
        code, shown = person(root, *words)
        assert code == 0 and not FRAMES.search(shown) and "data, not instructions" not in shown, shown
        assert "\x1b[1mParser stays pure\x1b[0m" in shown, shown
        assert "inferred · project: alpha" in shown and made in shown
        assert "    Not even a cache." in shown and "\x1b[31m" not in shown
    assert "History, oldest first: 1 memory" in shown
    assert FRAMES.search(om(root, "recall", OM_PROJECT="alpha").stdout), "an agent gets it framed as data"


def test_context_at_a_terminal_is_plain_text_too(vault: Vault) -> None:
    root = vault()
    made = tell(root, "Parser stays pure", "It has no state.", paths=["src/p.py"])
    code, shown = person(root, "context", "src/p.py", OM_PROJECT="alpha", OM_ROOT=str(root.parent))
    assert code == 0 and "current rules: 1" in shown and not FRAMES.search(shown), shown
    assert f"\x1b[1mParser stays pure\x1b[0m  {made}" in shown and "inferred · project: alpha" in shown


def test_timeline_has_a_form_for_scripts(vault: Vault) -> None:
    root = vault()
    old = tell(root, "Three retries", "Three.")
    new = tell(root, "Five retries", "Five since spring.", supersedes=[old])
    told = json.loads(om(root, "timeline", old, "--json", OM_PROJECT="alpha", cwd=root.parent).stdout)
    assert told["memory"]["id"] == old and told["memory"]["body"] == "Three."
    assert [(m["id"], m["state"]) for m in told["members"]] == [(old, "superseded"), (new, "current")]
    assert told["links"] == [[old, new]] and [line["op"] for line in told["events"]] == ["create", "create"]


def test_the_owners_list_marks_what_one_project_replaced_for_itself(vault: Vault) -> None:
    root = vault()
    old = tell(root, "Retry three times", "So it is.", scope="general", generality="everywhere so")
    new = tell(root, "Beta retries once", "One is enough.", "beta", supersedes=[old])
    code, shown = person(root, "recall")
    assert code == 0 and "Retry three times" in shown
    assert f"superseded for beta only, by 'Beta retries once' ({new})" in " ".join(shown.split())


@pytest.mark.parametrize("typed", ["o", "old", "OLDER"])
def test_a_question_is_answered_by_the_first_letters(vault: Vault, typed: str) -> None:
    root = vault()
    tell(root, "The build host is Fern", "The build host is Fern.")
    tell(root, "The build host is Moss", "The build host is Moss.")
    code, shown = person(root, "review", answers=(typed,))
    assert code == 0 and "older: the older one holds" in shown, shown


def test_letters_that_begin_two_answers_are_asked_again(vault: Vault) -> None:
    root = vault()
    tell(root, "The build host is Fern", "The build host is Fern.")
    tell(root, "The build host is Moss", "The build host is Moss.")
    code, shown = person(root, "review", answers=("ne", "new"))
    assert code == 0 and "newer or neither" in shown and "newer: the newer one holds" in shown, shown


@pytest.mark.parametrize("first", [True, False])
def test_the_log_of_a_fresh_vault_knows_only_memories(vault: Vault, first: bool) -> None:
    page = {"memories/About Memories.md": "---\ndate: 2026-01-01\ntags: [index]\n---\n# About\n"}
    root = vault(page)
    if not first:
        om(root, "recall", OM_PROJECT="alpha")
        (root / "memories" / "About Memories.md").write_text("---\ndate: 2026-01-02\n---\n# About it\n")
    made = tell(root, "One", "Something.")
    shown = om(root, "log").stdout.splitlines()
    assert len(shown) == 1 and made in shown[0]


def test_numbers_and_their_words_agree(vault: Vault) -> None:
    root = vault({"memories/About Memories.md": "---\ntags: [index]\n---\n# About\n", "brain/One.md": "# One\n"})
    tell(root, "Only", "The only one.")
    rows = json.loads(om(root, "doctor", "--json").stdout)["findings"]
    told = {row["check"]: row["text"] for row in reversed(rows)}
    assert told["memories"] == "1 memory: 1 current"
    assert told["index"].startswith("1 note and 1 memory, "), told["index"]
    assert om(root, "log", "verify").stdout == "1 line of 1 clone, every chain holds.\n"
    assert om(vault({"A.md": "# A\n"}, "small"), "refresh").stdout.startswith("1 file: ")
