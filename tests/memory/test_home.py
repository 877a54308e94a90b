"""In the vault itself nobody is a project: what its own session is told instead."""

from __future__ import annotations

import pytest

from vaultcore.errors import Refusal
from vaultcore.memory.memories import Memories, Writer
from vaultcore.memory.reach import PERSON, Reader
from vaultcore.memory.recording import remember

GOOD = {"title": "Cold caches are slow", "body": "The first deploy was slow on 2026-03-01.", "confidence": "inferred"}


@pytest.mark.parametrize(
    ("writer", "registers"),
    [(Writer("the vault", "", (), PERSON), False), (Writer("nobody known", "", (), Reader()), True)],
)
def test_only_a_repository_is_advised_to_register(memories: Memories, writer: Writer, registers: bool) -> None:
    with pytest.raises(Refusal) as refused:
        remember(memories, GOOD, writer)
    assert refused.value.code == "no-project" and "Name projects" in refused.value.next
    assert ("om register" in str(refused.value)) is registers
    assert ("the vault itself is none" in str(refused.value)) is not registers
