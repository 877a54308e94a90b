"""Markup as Obsidian reads it: what is a link, a heading, a block, a task, a tag, and what only looks like one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vaultcore import markdown
from vaultcore.markdown import block, parse, section


def targets(text: str) -> list[str]:
    return [link.raw for link in parse(text).links]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("[[Note]]", [("Note", None, None, None)]),
        ("[[Note|shown]]", [("Note", None, None, "shown")]),
        ("[[folder/Note#Part]]", [("folder/Note", "Part", None, None)]),
        ("[[Note#A#B]]", [("Note", "A#B", None, None)]),
        ("[[Note#^id-1]]", [("Note", None, "id-1", None)]),
        ("[[#Part]]", [("", "Part", None, None)]),
        ("| [[target\\|Shown]] | 1 |", [("target", None, None, "Shown")]),
        ("| [[target|Other]] | 2 |", [("target", None, None, "Other")]),
        ("[[a]] and [[b|c]] and [[d]]", [("a", None, None, None), ("b", None, None, "c"), ("d", None, None, None)]),
        ("[x](Note%20name.md#Head%20ing)", [("Note name.md", "Head ing", None, "x")]),
        ("[x](<Note name.md>)", [("Note name.md", None, None, "x")]),
        ('[x](a(1).md "title")', [("a(1).md", None, None, "x")]),
        ("[a [b] c](n.md)", [("n.md", None, None, "a [b] c")]),
        ("[x](https://example.org/[[y]])", [("y", None, None, None)]),
        ("[x](mailto:a@example.org) [y](//host/z)", []),
        ("\\[[no]] [[]] [[ ]]", []),
        ("[[יעד]] [[計画]]", [("יעד", None, None, None), ("計画", None, None, None)]),
    ],
)
def test_links_are_read_with_their_parts(text: str, expected: list[tuple[object, ...]]) -> None:
    assert [(k.target, k.heading, k.block, k.alias) for k in parse(text).links] == expected


@pytest.mark.parametrize(
    "text",
    [
        "```bash\nif [[ -n x ]]; then\n```\n",
        "~~~\n[[x]]\n```\n[[y]]\n~~~\n",
        "````\n```\n[[x]]\n```\n````\n",
        "```\n[[x]] never closed\n",
        "- item\n    ```sh\n    [[x]]\n    ```\n",
        "- ```sh\n  [[x]]\n  ```\n",
        "> ```\n> [[x]]\n> ```\n",
        "`[[x]]` and ``a ` [[y]]``",
        "`two\nlines [[x]]`",
        "para\n\n    [[x]]\n\n    [[y]]\n",
        "\t[[x]]\n",
        "<!-- [[x]] -->",
        "<!--\n[[x]]\n```\n-->\n",
        "%% [[x]] %%",
        "%%\n[[x]]\n\n[[y]]\n%%\n",
        "$$\na[[x]]\n$$\n",
        "a `` [[x]] ``\r\n",
    ],
)
def test_what_stands_in_code_comments_or_math_is_no_link(text: str) -> None:
    assert targets(text) == []
    assert targets(text + "\n\nend [[real]]\n") == (["real"] if "never closed" not in text else [])


@pytest.mark.parametrize(
    "text",
    [
        "a ` [[real]]\n\n` b",
        "\\`[[real]]\\`",
        "<!-- open [[real]]",
        "100%% sure [[real]]",
        "- item\n    [[real]] continues\n",
        "- item\n\n    [[real]] second paragraph\n",
        "text\n    [[real]] lazily indented\n",
        "> ```\n> code\n[[real]]\n",
        "```inline``` [[real]]",
        "```\ncode\n```\n[[real]]",
        "1. one\n\n   - two\n\n     [[real]]\n",
        "$5 and $$ [[real]]",
    ],
)
def test_what_only_looks_like_code_hides_no_link(text: str) -> None:
    assert targets(text) == ["real"]


def test_links_in_properties_are_links_and_their_escapes_are_undone() -> None:
    text = '---\nup: "[[a \\"b\\"]]"\nx: \'[[it\'\'s]]\'\n# [[comment]]\nlist:\n  - "[[c|d]]"\n---\n[[body]]\n'
    document = parse(text)
    assert [(k.raw, k.in_properties, k.line) for k in document.links] == [
        ('a "b"', True, 2), ("it's", True, 3), ("c", True, 6), ("body", False, 8),
    ]  # fmt: skip


def test_offsets_of_a_link_span_its_text() -> None:
    text = "---\nk: v\n---\nsee ![[pic.png|100]] and ![alt](b.md)\n"
    assert [text[k.start : k.end] for k in parse(text).links] == ["![[pic.png|100]]", "![alt](b.md)"]
    assert [k.embed for k in parse(text).links] == [True, True]


def test_headings_know_level_line_and_block() -> None:
    text = "---\na: 1\n---\n# One\n\n## Two `code` ##\n```\n# no\n```\nSetext\n===\n- item\n---\n"
    text += "### 2.3 Frame ^f2\n#no\n####### no\n"
    assert [(h.level, h.text, h.line, h.block) for h in parse(text).headings] == [
        (1, "One", 4, None), (2, "Two `code`", 6, None), (1, "Setext", 10, None), (3, "2.3 Frame", 14, "f2"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "lines"),
    [
        ("Alpha", (1, 8)),
        ("alpha > beta", (3, 6)),
        ("Alpha#Beta", (3, 6)),
        ("Salt Water Ratio", (5, 6)),
        ("salt/water, ratio!", (5, 6)),
        ("Alpha > Salt Water Ratio", (5, 6)),
        ("Link shown", (7, 8)),
        ("Beta > Link shown", None),
        ("nope", None),
        ("", None),
    ],
)
def test_a_section_is_found_as_the_app_compares_headings(path: str, lines: tuple[int, int] | None) -> None:
    text = "# Alpha\n\n## Beta\nb\n### Salt/Water: Ratio\nr\n## [[x|Link]] *shown*\nl\n\n"
    found = section(text, path)
    assert (None if found is None else (found.line0, found.line1)) == lines


BLOCKS = """- one
  goes on ^multi
- parent ^parent
    - child
    - child two ^child
- next

  second paragraph of next ^late

1. first
2. second ^second
3. third

> quote one
> quote two ^quote

| a | b |
|---|---|
| 1 | 2 |

^table

```
in code ^code
```

^fence

a paragraph
of two lines ^para ^twice
text^not

again ^multi
"""


@pytest.mark.parametrize(
    ("id", "lines"),
    [
        ("multi", (1, 2)), ("parent", (3, 5)), ("^CHILD", (5, 5)), ("second", (11, 11)), ("quote", (14, 15)),
        ("table", (17, 19)), ("fence", (23, 25)), ("twice", (29, 31)), ("code", None), ("not", None), ("none", None),
    ],
)  # fmt: skip
def test_a_block_id_names_its_whole_block(id: str, lines: tuple[int, int] | None) -> None:
    found = block(BLOCKS, id)
    assert (None if found is None else (found.line0, found.line1)) == lines


def test_tasks_in_every_list_style_and_none_in_code() -> None:
    text = (
        "- [ ] a\n* [x] b\n+ [/] c\n1. [-] d\n  2) [X] e\n> - [ ] f\n- [] no\n-[ ] no\n```\n- [ ] no\n```\n- [ ] `g`\n"
    )
    assert [(t.line, t.marker, t.done, t.text) for t in parse(text).tasks] == [
        (1, " ", False, "a"), (2, "x", True, "b"), (3, "/", False, "c"), (4, "-", True, "d"), (5, "X", True, "e"),
        (6, " ", False, "f"), (12, " ", False, "`g`"),
    ]  # fmt: skip


def test_only_a_hash_after_a_blank_and_with_a_letter_makes_a_tag() -> None:
    text = (
        'x <span style="color:#fff"> `#code` https://e.org/#part ticket #123 C# #topic/sub #Topic/Sub #1a\n#start\n'
        "# Heading #tail\n```\n#no\n```\n#émoji🚀 #日本 (#no) #a.b #/"
    )
    assert parse(text).tags == ["topic/sub", "1a", "start", "tail", "émoji🚀", "日本", "a"]


def test_lines_count_from_the_top_of_the_file_and_crlf_changes_nothing() -> None:
    text = "\ufeff---\na: b\n---\n# H\n[[x]]\n- [ ] t ^id\n```js\nc\n```\n"
    one, two = parse(text), parse(text.replace("\n", "\r\n"))
    for d in (one, two):
        assert d.body_line == 4
        assert [(h.line, h.text) for h in d.headings] == [(4, "H")]
        assert [k.line for k in d.links] == [5]
        assert [(t.line, t.text) for t in d.tasks] == [(6, "t ^id")]
        assert [(f.line0, f.line1, f.language) for f in d.fences] == [(7, 9, "js")]
        assert [(b.id, b.line0) for b in d.blocks] == [("id", 6)]


PIECES = st.lists(
    st.sampled_from(
        ["`", "```", "~~~", "\n", "\n\n", "    ", "\t", "- ", "> ", "<!--", "-->", "%%", "$$", "[[", "]]", "|", "a",
         "#", " ", "^x", "](", ")", "---", "===", "\r\n", "[ ] ", "é", "\\", "1. "]
    ),
    max_size=40,
)  # fmt: skip


@given(PIECES.map("".join))
def test_any_text_is_parsed_with_its_length_and_line_ends_kept(text: str) -> None:
    document = parse(text)
    assert len(document.clean) == len(text)
    assert [i for i, c in enumerate(document.clean) if c == "\n"] == [i for i, c in enumerate(text) if c == "\n"]
    assert all(c in (" ", text[i]) for i, c in enumerate(document.clean))
    for link in document.links:
        assert 1 <= link.line <= len(document.lines)
        assert text[link.start : link.end].endswith(("]]", ")"))
    for found in document.blocks:
        assert 1 <= found.line0 <= found.line1 <= len(document.lines)
    for heading in document.headings:
        assert section(document, heading.text) is not None or not markdown.heading_key(heading.text)
    assert all(1 <= t.line <= len(document.lines) for t in document.tasks)
    assert all("#" not in tag for tag in document.tags)


@pytest.mark.parametrize(
    "piece", ["`", "[[", "[[a|", "](", "<!--", "%%", "[", "- ", "``` ", "$$\n", "> ", "#", "`a``b```"]
)
def test_a_long_run_of_openers_takes_no_more_than_linear_work(piece: str) -> None:
    text = piece * (200_000 // len(piece))
    document = parse(text)
    assert len(document.clean) == len(text)
    assert document.links == []
    _ = document.headings, document.blocks, document.tasks, document.tags
