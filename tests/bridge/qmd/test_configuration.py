"""qmd's own configuration is edited one key at a time, and every other byte stays."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from vaultbridge.qmd import config
from vaultcore.errors import VaultError

YAML = """\
# mine
collections:
  docs:   # other notes
    path: /docs
    ignore: [a, b]
  vault:
    path: /v
    pattern: "**/*.md"
    ignore:
      - old/**   # why
      - 'own rule'
    context:
      "": About it
      brain: Durable

  last:
    path: /last
# tail
models:
  embed: hf:a/b/c.gguf
"""


@pytest.mark.parametrize(
    ("text", "changes"),
    [
        (YAML, {"ignore": ["x/**", "a: b", "#c", "- d", "é", r"\[x\]"]}),
        (YAML, {"ignore": []}),
        (YAML, {"context": {"": 'a "quoted": text # no comment', "brain": "Durable"}}),
        (YAML, {"path": "/else where", "pattern": "**/*.md", "ignore": ["z"]}),
        ("", {"path": "/v", "ignore": ["z"]}),
        ("models:\n  embed: x\n", {"path": "/v"}),
        ("collections:\nmodels:\n  embed: x\n", {"path": "/v", "ignore": ["q"]}),
        ("collections: {}\n", {"path": "/v"}),
        ("collections:\n    other:\n        path: /o\n", {"path": "/v", "ignore": ["q"]}),
        ("collections:\n  vault:\n    path: /v", {"ignore": ["q"]}),
        ("collections:\n  vault:\n    ignore:\n    - a\n    - b\n    path: /v\n", {"ignore": ["q"]}),
        ("collections:\n  vault:\n    ignore: [a,\n      b]\n    path: /v\n", {"ignore": []}),
        ('collections:\n  "vault":\n    path: /v\n', {"ignore": ["q"]}),
    ],
)
def test_one_key_of_one_collection_is_set_and_the_rest_means_what_it_did(
    tmp_path: Path, text: str, changes: dict[str, object]
) -> None:
    path = tmp_path / "x.yml"
    path.write_text(text)
    before = yaml.safe_load(text) or {}
    config.put(str(path), "vault", changes)
    after = yaml.safe_load(path.read_text())
    entry = dict((before.get("collections") or {}).get("vault", {}))
    entry.update({key: value for key, value in changes.items() if value})
    for key in [key for key, value in changes.items() if not value]:
        entry.pop(key, None)
    assert after == {**before, "collections": {**(before.get("collections") or {}), "vault": entry}}


def test_every_other_byte_of_the_configuration_stays(tmp_path: Path) -> None:
    path = tmp_path / "x.yml"
    path.write_text(YAML)
    assert config.put(str(path), "vault", {"ignore": ["new/**"]})
    assert path.read_text() == YAML.replace("      - old/**   # why\n      - 'own rule'\n", '      - "new/**"\n')
    assert not config.put(str(path), "vault", {"ignore": ["new/**"]})


@pytest.mark.parametrize(
    "text", ["collections: {vault: {path: /v}}\n", "collections:\n  vault: {path: /v}\n", "- a\n", "collections: [\n"]
)
def test_a_configuration_that_cannot_be_edited_is_left_alone_and_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "x.yml"
    path.write_text(text)
    with pytest.raises(VaultError, match=r"x\.yml"):
        config.put(str(path), "vault", {"ignore": ["q"]})
    assert path.read_text() == text
