"""What makes a note private, and what never does."""

from __future__ import annotations

import pytest

from vaultcore.private import why_private
from vaultcore.properties import read


@pytest.mark.parametrize(
    "lines",
    [
        "private: true", "private: True", "private: yes", "private: YES", "private: on", "private: 1",
        'private: "true"',
        "private: 'yes'", "Private: true", "PRIVATE: On", "private : true", "private: [true]",
        "private: true # for now",
        "private: 1.0", "tags: private", "tags: PRIVATE", "tags: [private]", "tags: [work, Private]",
        "tags:\n- private",
        "tags:\n  - work\n  - private", "Tags:\n- private", "tag: private", "TAG: [private]", 'tags: "x, private"',
        "tags: x private", "tags: private/family", "tags: [private/x]", 'tags: ["#private"]', "tags: '#private/x'",
        "tags: #private", "tags:\n  - #private", "tags: [[private]]", "tags: {private: x}", "tags: &a [private]",
        "tags: [private]\ntags: [open]", "private: true\nprivate: false", "tags: >-\n  private",
        "title: a: b\ntags: [private]",
        "tags:\n\t- private", "tags:\n  * private",
    ],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("start", ["---\n", "\ufeff---\ntitle: x\n"])
def test_every_spelling_of_private_withholds_the_note(lines: str, ending: str, start: str) -> None:
    assert why_private(read(f"{start}{lines}\n---\nbody\n".replace("\n", ending)))


@pytest.mark.parametrize(
    "text",
    [
        "", "body", "private: true", "- private", "#private",
        "---\ntitle: x\n---\n- private\n\nprivate: true\n#private\n",
        "---\nprivate: false\n---\n", "---\nprivate: no\n---\n", "---\nprivate:\n---\n", "---\nprivate: 0\n---\n",
        "---\ntags: [privateer, not-private]\n---\n", "---\nnotprivate: true\n---\n",
        "---\ndescription: private\n---\n",
        "---\ndescription: |\n  private: true\n  tags: [private]\n---\n", "---\ntopic: [private]\n---\n",
        "---\ntitle: x # private: true\n---\n", "---\n# private: true\ntitle: x\n---\n", "\n---\nprivate: true\n---\n",
        "---\nmeta: {private: true}\n---\n",
    ],
)  # fmt: skip
def test_ordinary_notes_are_not_private(text: str) -> None:
    assert why_private(read(text)) is None


@pytest.mark.parametrize("text", ["---\ntitle: x\n", "---\ntitle: @b\n---\n", "---\na: " + "x" * 70_000 + "\n---\n"])
def test_properties_that_cannot_be_read_whole_withhold_the_note_and_say_why(text: str) -> None:
    assert (why_private(read(text)) or "").startswith("its properties cannot be read whole (")


def test_the_reason_names_the_mark_and_nothing_else() -> None:
    assert why_private(read("---\nPrivate: yes\n---\n")) == "its properties say Private: yes"
    assert why_private(read("---\ntags: [private/x]\n---\n")) == "it carries the tag private"
