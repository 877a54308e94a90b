"""The manifest: defaults, a local file over the shipped one, every fault named with its place and the rest used."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.conftest import ROOT
from vaultcore import brokenjson, keys, manifest

Vault = Callable[..., Path]
NAME, LOCAL = manifest.NAME, manifest.LOCAL


def load(vault: Vault, text: str | bytes, local: str | bytes | None = None) -> manifest.Manifest:
    return manifest.load(str(vault({NAME: text, **({LOCAL: local} if local is not None else {})})))


def said(held: manifest.Manifest) -> list[str]:
    return [problem.sentence() for problem in held.problems]


def test_without_a_manifest_every_key_has_its_default(tmp_path: Path) -> None:
    held = manifest.load(str(tmp_path))
    assert {name: held.get(name) for name in keys.KEYS} == {name: key.default for name, key in keys.KEYS.items()}
    assert (held.get("memory_root"), held.get("memory.auto_retire"), held.get("search.backend")) == (
        "memories",
        "key",
        "auto",
    )
    assert (held.problems, held.lost) == ([], frozenset())
    with pytest.raises(KeyError):
        held.get("no.such.key")


def test_a_default_cannot_be_changed_by_its_reader(tmp_path: Path) -> None:
    held = manifest.load(str(tmp_path))
    held.get("open_loop_dirs").append("x")
    assert "x" not in held.get("open_loop_dirs")


def test_nested_and_dotted_keys_are_the_same_key(vault: Vault) -> None:
    assert load(vault, '{"reason": {"model": "a"}, "search": {"backend": "qmd"}}').get("reason.model") == "a"
    assert load(vault, '{"reason.model": "b"}').get("reason.model") == "b"
    assert load(vault, '{"reason.model": "b"}', '{"reason": {"model": "c"}}').get("reason.model") == "c"


def test_the_local_file_is_read_over_the_shipped_one(vault: Vault) -> None:
    held = load(
        vault,
        '{"version": "1", "mcp_exposed_roots": ["a", "b"], "scaffold": {"x": "1", "y": {"p": 1, "q": 2}}}',
        '{"mcp_exposed_roots": ["c"], "scaffold": {"y": {"q": 3}, "z": "4"}, "memory": {"auto_retire": "off"}}',
    )
    assert held.get("version") == "1"
    assert held.get("mcp_exposed_roots") == ["c"]
    assert held.get("scaffold") == {"x": "1", "y": {"p": 1, "q": 3}, "z": "4"}
    assert held.get("memory.auto_retire") == "off"
    assert held.problems == []


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("version", 3, "must be text, not a number"),
        ("version", None, "must be text, not null"),
        ("infrastructure", {"a": 1}, "must be a list of texts, not an object"),
        ("scaffold", [], "must be an object, not a list"),
        ("eager_layer_budget_bytes", True, "must be a whole number above 0, not true"),
        ("eager_layer_budget_bytes", 0, "must be a whole number above 0, not 0"),
        ("eager_layer_budget_bytes", 1.5, "must be a whole number above 0, not 1.5"),
        ("eager_layer_budget_bytes", "9", 'must be a whole number above 0, not "9"'),
        ("memory.auto_retire", "always", 'must be one of key, sentence, off, not "always"'),
        ("memory_root", "..", "must be the name of one folder"),
        ("memory_root", ".", "must be the name of one folder"),
        ("memory_root", "a/b", "must be the name of one folder"),
        ("memory_root", "a\\b", "must be the name of one folder"),
        ("memory_root", "", "must be the name of one folder"),
        ("memory_root", "x.", "must be the name of one folder"),
        ("memory_root", ".hidden", "must be the name of one folder"),
        ("memory_root", 3, "must be the name of one folder"),
        ("mcp_inbox", "/in", "must be the name of one folder"),
    ],
)
def test_a_value_of_the_wrong_type_is_named_with_its_place_and_the_rest_is_used(
    vault: Vault, key: str, value: object, words: str
) -> None:
    text = json.dumps({"template": "t", key: value, "released": "r"}, indent=2)
    held = load(vault, text)
    assert held.get(key) == keys.KEYS[key].default
    assert (held.get("template"), held.get("released")) == ("t", "r")
    assert said(held) == [f"{NAME} line 3 column 3: {key} {held.problems[0].message.removeprefix(key + ' ')}"]
    assert words in said(held)[0]


@pytest.mark.parametrize("name", ["memories", "Mémoires", "my memories", " padded ", "a.b-c_d"])
def test_one_safe_folder_name_is_a_memory_root(vault: Vault, name: str) -> None:
    held = load(vault, json.dumps({"memory_root": name}))
    assert (held.get("memory_root"), held.problems) == (name.strip(), [])


def test_one_text_counts_as_a_list_and_strange_items_are_left_out(vault: Vault) -> None:
    held = load(vault, '{"mcp_never_expose": "secret.md", "mcp_exposed_roots": ["a", 3, null, "b"]}')
    assert (held.get("mcp_never_expose"), held.get("mcp_exposed_roots")) == (["secret.md"], ["a", "b"])
    assert len(held.problems) == 2
    assert held.lost == frozenset()


def test_unknown_keys_are_named_with_the_nearest_known_one(vault: Vault) -> None:
    held = load(vault, '{"$schema": "x",\n "mcp_exposed_root": ["a"],\n "reason": {"modle": 1},\n "search": 3}')
    assert said(held) == [
        f"{NAME} line 2 column 2: the key mcp_exposed_root is not known. Did you mean mcp_exposed_roots?",
        f"{NAME} line 3 column 13: the key reason.modle is not known. Did you mean reason.model?",
        f"{NAME} line 4 column 2: the key search is not known. Did you mean search.vectors?",
    ]


@pytest.mark.parametrize(
    ("text", "where", "words"),
    [
        ("", "line 1 column 1", "is empty"),
        ("[]", "line 1 column 1", "must hold an object, not a list"),
        ('"x"', "line 1 column 1", "must hold an object, not text"),
        ("{", "line 1 column 2", "is not valid JSON"),
        ("{\n  template: 1\n}", "line 2 column 3", "is not valid JSON"),
        ("[" * 100_000, "line 1 column 1", "is not valid JSON"),
        (b"{}\x00", "line 1 column 3", "is not valid JSON"),
    ],
)
def test_what_is_no_object_is_named_and_nothing_is_exposed_on_a_guess(
    vault: Vault, text: str | bytes, where: str, words: str
) -> None:
    held = load(vault, text)
    assert f"{NAME} {where}: " in said(held)[0]
    assert words in said(held)[0]
    assert "mcp_never_expose" in held.lost
    assert held.get("version") == ""


def test_broken_json_gives_what_can_be_read_of_it(vault: Vault) -> None:
    comma = load(vault, '{\n  "version": "2",\n  "mcp_exposed_roots": ["a",],\n  "released": "r",\n}\n')
    assert (comma.get("version"), comma.get("mcp_exposed_roots"), comma.get("released")) == ("2", ["a"], "r")
    assert "line 3" in said(comma)[0]
    note = load(vault, '{\n  // why\n  "version": "http://x", /* and\n so */ "released": "r"\n}\n')
    assert (note.get("version"), note.get("released")) == ("http://x", "r")
    cut = load(vault, '{\n  "version": "2",\n  "infrastructure": ["a", "b"],\n  "mcp_exposed_roots": ["a", "b')
    assert (cut.get("version"), cut.get("infrastructure")) == ("2", ["a", "b"])
    assert "mcp_exposed_roots" in cut.lost
    middle = load(
        vault, '{\n  "version": "2",\n  "template": oops,\n  "scaffold": {"version": "9"},\n  "released": "r"\n}'
    )
    assert (middle.get("version"), middle.get("released"), middle.get("template")) == ("2", "r", "")
    assert "line 3 column 15" in said(middle)[0]


def test_merge_markers_are_named_and_the_upper_side_counts(vault: Vault) -> None:
    held = load(
        vault,
        '{\n  "version": "1",\n<<<<<<< HEAD\n  "memory_root": "mine",\n||||||| base\n  "memory_root": "old",\n=======\n'
        '  "memory_root": "theirs",\n>>>>>>> other\n  "released": "r"\n}\n',
    )
    assert (held.get("version"), held.get("memory_root"), held.get("released")) == ("1", "mine", "r")
    assert said(held)[0].startswith(f"{NAME} line 3 column 1: holds markers of an unfinished merge")


def test_a_repeated_key_is_named(vault: Vault) -> None:
    held = load(vault, '{\n "version": "1",\n "version": "2"\n}')
    assert held.get("version") == "2"
    assert said(held)[0].startswith(f"{NAME} line 3 column 2: the key version stands there twice")


def test_a_broken_local_file_leaves_the_shipped_one_in_force(vault: Vault) -> None:
    held = load(vault, '{"version": "1"}', "{oops")
    assert held.get("version") == "1"
    assert held.problems[0].path == LOCAL
    assert "mcp_never_expose" in held.lost


@pytest.mark.parametrize("kind", ["folder", "huge", "latin"])
def test_files_that_cannot_be_read_are_named(vault: Vault, kind: str) -> None:
    root = vault({NAME: '{"version": "1"}'})
    if kind == "folder":
        (root / LOCAL).mkdir()
    else:
        (root / LOCAL).write_bytes(b'{"version": "caf\xe9"}' if kind == "latin" else b" " * 1_000_001)
    held = manifest.load(str(root))
    assert held.problems[0].path == LOCAL
    assert held.get("version") == ("caf\ufffd" if kind == "latin" else "1")


def test_a_bom_and_crlf_are_no_fault(vault: Vault) -> None:
    held = load(vault, b'\xef\xbb\xbf{\r\n"version": "1"\r\n}\r\n')
    assert (held.get("version"), held.problems) == ("1", [])


def test_a_change_is_seen_at_the_next_load_and_only_then_parsed(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({NAME: '{"version": "1"}'})
    before = manifest.load(str(root))
    (root / NAME).write_text('{"version": "2"}')  # same size, within one tick of a coarse clock
    assert manifest.load(str(root)).get("version") == "2"
    assert manifest.load(str(root)).fingerprint != before.fingerprint
    later = time.time_ns() + 10_000_000_000
    monkeypatch.setattr(time, "time_ns", lambda: later)
    first = manifest.load(str(root))
    assert manifest.load(str(root)) is first
    (root / LOCAL).write_text('{"version": "3"}')
    assert manifest.load(str(root)).get("version") == "3"
    (root / LOCAL).unlink()
    assert manifest.load(str(root)).get("version") == "2"


def test_many_threads_may_load_while_it_changes(vault: Vault) -> None:
    root = vault({NAME: '{"version": "0"}'})
    wrong: list[object] = []
    done = threading.Event()

    def reader() -> None:
        while not done.is_set():
            held = manifest.load(str(root))
            if not held.get("version").isdigit():
                wrong.append(said(held))

    threads = [threading.Thread(target=reader) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(100):
        (root / "new").write_text(json.dumps({"version": str(number)}))
        os.replace(root / "new", root / NAME)
    done.set()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_the_root_is_found_from_below(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a/b/n.md": ""})
    (tmp_path / "link").symlink_to(root)
    for start in (root, root / "a/b", root / "a/b/n.md", root / "a/gone/deep", tmp_path / "link/a"):
        assert manifest.find_root(str(start)) == str(root.resolve())
    assert manifest.find_root(str(tmp_path)) is None


def test_the_shipped_schema_is_the_one_the_keys_give() -> None:
    held = json.loads((ROOT / "vault-manifest.schema.json").read_text(encoding="utf-8"))
    assert held == json.loads(json.dumps(keys.schema())), (
        'write it again: python3 -c \'import json, sys; sys.path.insert(0, "src"); from vaultcore import keys; '
        "print(json.dumps(keys.schema(), indent=2, ensure_ascii=False))' > vault-manifest.schema.json"
    )
    jsonschema.Draft202012Validator.check_schema(held)
    promised = (
        "template version released qmd_index qmd_context qmd_min_version infrastructure user_content_roots scaffold "
        "frontmatter_required version_fingerprints mcp_exposed_roots mcp_never_expose memory_root mcp_inbox "
        "eager_layer_budget_bytes listing_collapse_threshold open_loop_dirs open_loop_sections reason.model"
    )
    assert set(promised.split()) <= set(held["properties"])


def test_every_default_is_valid_by_the_schema_and_by_the_loader(vault: Vault) -> None:
    defaults = {name: key.default for name, key in keys.KEYS.items()}
    jsonschema.validate(defaults, keys.schema())
    held = load(vault, json.dumps(defaults))
    assert held.problems == []


def test_the_shipped_manifest_is_valid() -> None:
    path = ROOT / NAME
    if path.exists():
        jsonschema.validate(json.loads(path.read_text(encoding="utf-8")), keys.schema())
        assert manifest.load(str(ROOT)).problems == []


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
)


@given(st.dictionaries(st.sampled_from(sorted(keys.KEYS)) | st.text(max_size=6), JSON, max_size=6))
def test_whatever_a_manifest_says_each_key_keeps_its_type(said: dict[str, Any]) -> None:
    problems: list[Any] = []
    lost: set[str] = set()
    text = json.dumps(said)
    found = manifest._valid(NAME, text, said, problems, lost, {})
    held = manifest.Manifest("", found, problems, frozenset(lost))
    for name, key in keys.KEYS.items():
        value = held.get(name)
        assert type(value) is type(key.default)
        assert key.type != "strings" or all(isinstance(item, str) for item in value)
        assert key.type != "integer" or value > 0


@given(st.text(max_size=80) | st.text(st.sampled_from('{}[]",:\\ \n<>=/*ab1'), max_size=60), st.integers(0, 60))
def test_any_broken_text_gives_an_object_and_a_problem(text: str, cut: int) -> None:
    for whole in (text, json.dumps({"a": [1, {"b": text}], "c": 2}, indent=1)[: cut + 3]):
        try:
            json.loads(whole)
        except ValueError as error:
            values, problem = brokenjson.recover(NAME, whole, error)
            assert isinstance(values, dict)
            assert problem.sentence()
