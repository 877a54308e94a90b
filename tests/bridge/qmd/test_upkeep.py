"""Setting qmd up and keeping it up: its configuration edited byte by byte, its commands run one at a time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from tests.bridge.qmd.fake import Fake
from tests.conftest import write_tree
from vaultbridge.bridge import Bridge
from vaultbridge.cli import Session
from vaultbridge.cli.qmd import command
from vaultbridge.qmd import ignoring, program, upkeep
from vaultcore import locks, manifest, qmd
from vaultcore.errors import VaultError

Vault = Callable[..., Path]
SOURCES = str(Path(__file__).resolve().parents[3] / "src")
MANIFEST = '{"mcp_exposed_roots": ["notes"], "mcp_never_expose": ["secret/"], "qmd_context": "My notes"%s}\n'
NOTES = {
    "notes/alpha.md": "# Alpha\n",
    "notes/hidden [x].md": "---\nprivate: true\n---\n",
    "secret/a.md": "# A\n",
    "secret/b/c.md": "# C\n",
    ".obsidian/app.json": '{"userIgnoreFilters": ["src/", "README.md", "/^x.*/", "", 3]}',
}


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Fake:
    made = Fake(tmp_path / "npm")
    made.install(monkeypatch)
    made.set(folder=str(tmp_path / "vault"))
    monkeypatch.setenv("OM_WORKER", "off")
    monkeypatch.setattr(program, "_found", None)
    return made


def bridge(vault: Vault, extra: str = "", **files: str) -> Bridge:
    return Bridge(str(vault({"vault-manifest.json": MANIFEST % extra, **NOTES, **files})))


def configured(name: str = "vault") -> dict[str, dict[str, object]]:
    held: dict[str, dict[str, object]] = yaml.safe_load(Path(qmd.config_path(name)).read_text())["collections"]
    return held


# -- set-up ---------------------------------------------------------------------------------------------------------


def test_set_up_registers_folder_context_and_rules_before_qmd_reads_a_note(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    said = upkeep.setup(made)
    assert configured() == {
        "vault": {
            "path": made.root,
            "pattern": "**/*.md",
            "ignore": ["src/**", "README.md", r"notes/hidden \[x\].md", "secret/**"],
            "context": {"": "My notes"},
        }
    }
    words = [call["argv"][2:] for call in fake.calls]
    assert words == [["update"], ["cleanup"], ["collection", "show", "vault"]]
    assert all(call["argv"][:2] == ["--index", "vault"] for call in fake.calls)
    assert any("regular expression" in line for line in said)
    assert any("models missing" in line for line in said)


def test_setting_up_again_changes_nothing(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    before = Path(qmd.config_path("vault")).read_bytes()
    upkeep.setup(made)
    assert Path(qmd.config_path("vault")).read_bytes() == before
    assert [call["argv"][2] for call in fake.calls].count("cleanup") == 1


@pytest.mark.parametrize(
    ("extra", "plan", "sentence"),
    [
        (', "qmd_index": "taken"', {}, "is in use for"),
        ("", {"update_fails": 2}, "`qmd update` failed: SqliteError: constraint failed"),
        ("", {"folder": "/elsewhere"}, "does not show the collection vault"),
        (', "qmd_min_version": "9"', {}, "older than 9"),
    ],
)
def test_a_set_up_that_cannot_be_done_says_why(
    vault: Vault, fake: Fake, tmp_path: Path, extra: str, plan: dict[str, object], sentence: str
) -> None:
    write_tree(Path(qmd.config_path("x")).parent, {"taken.yml": "collections:\n  taken:\n    path: /other\n"})
    fake.set(**plan)
    with pytest.raises(VaultError, match=sentence):
        upkeep.setup(bridge(vault, extra))


def test_without_qmd_set_up_says_what_to_install(vault: Vault, monkeypatch: pytest.MonkeyPatch, fake: Fake) -> None:
    monkeypatch.setenv("OM_QMD", "/nowhere")
    with pytest.raises(VaultError, match="npm install -g @tobilu/qmd"):
        upkeep.setup(bridge(vault))


def test_a_collection_of_another_name_that_holds_this_vault_is_used_as_it_is(vault: Vault, fake: Fake) -> None:
    made = bridge(vault, ', "qmd_index": "shared"')
    write_tree(Path(qmd.config_path("x")).parent, {"shared.yml": f"collections:\n  template:\n    path: {made.root}\n"})
    upkeep.setup(made)
    assert list(configured("shared")) == ["template"]
    assert fake.starts("show")[0][2:] == ["collection", "show", "template"]


# -- ignore rules ---------------------------------------------------------------------------------------------------


def test_a_rule_of_the_users_own_survives_every_change_of_ours(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    path = Path(qmd.config_path("vault"))
    path.write_text(path.read_text().replace('- "src/**"', '- mine/**\n      - "src/**"'))
    write_tree(Path(made.root), {"notes/hidden [x].md": "# open now\n", ".obsidian/app.json": "{}"})
    made.index.refresh()
    upkeep.refresh(made)
    assert configured()["vault"]["ignore"] == ["mine/**", "secret/**"]


@pytest.mark.parametrize(
    ("app", "rules"),
    [
        (None, []),
        ('{"userIgnoreFilters": []}', []),
        ("{}", []),
        ("{broken", ["src/**", "README.md"]),
        (b"\xff\xfe\x00", ["src/**", "README.md"]),
    ],
)
def test_settings_that_cannot_be_read_change_no_rule_and_missing_ones_take_them_out(
    vault: Vault, fake: Fake, app: str | bytes | None, rules: list[str]
) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    file = Path(made.root, ".obsidian", "app.json")
    file.unlink()
    if app is not None:
        file.write_bytes(app.encode() if isinstance(app, str) else app)
    said = upkeep.refresh(made)
    assert configured()["vault"]["ignore"] == [*rules, r"notes/hidden \[x\].md", "secret/**"]
    assert any("cannot be read" in line for line in said) == bool(rules)


def test_a_note_that_becomes_private_leaves_the_store_as_well(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    write_tree(Path(made.root), {"notes/alpha.md": "---\nprivate: yes\n---\n"})
    made.index.refresh()
    seen = len(fake.calls)
    upkeep.refresh(made)
    assert configured()["vault"]["ignore"][-2:] == ["notes/**", "secret/**"]  # type: ignore[index]
    assert [call["argv"][2] for call in fake.calls[seen:]] == ["update", "cleanup"]


@pytest.mark.parametrize(
    ("rel", "glob"),
    [
        ("a b/c.md", "a b/c.md"),
        ("a[1].md", r"a\[1\].md"),
        ("{x}(y)!?*.md", r"\{x\}\(y\)\!\?\*.md"),
        ("日本.md", "日本.md"),
    ],
)
def test_a_path_becomes_a_glob_for_that_path_alone(rel: str, glob: str) -> None:
    assert ignoring.literal(rel) == glob


# -- refresh --------------------------------------------------------------------------------------------------------


def test_an_update_that_fails_once_is_tried_again(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    fake.set(update_fails=1)
    assert upkeep.refresh(made)[-1:] == ["Indexed: 1 new, 0 updated, 0 unchanged, 0 removed"]


def test_one_process_at_a_time_refreshes_and_the_others_leave_it_to_it(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    seen = len(fake.calls)
    with locks.lock(made.root, "qmd"):
        assert upkeep.refresh(made) == []
    assert len(fake.calls) == seen


def test_vectors_are_made_only_where_the_model_is_and_an_update_comes_last(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    fake.set(pending=3)
    upkeep.refresh(made)
    assert fake.starts("embed") == []
    write_tree(Path(qmd.cache_folder()) / "models", {"embeddinggemma-300M-Q8_0.gguf": b"GGUF" + b"\0" * 200_000})
    seen = len(fake.calls)
    assert upkeep.refresh(made)[-1] == "vectors are up to date"
    assert [call["argv"][2] for call in fake.calls[seen:]] == ["update", "status", "embed", "status", "update"]


def test_vectors_that_take_longer_than_one_round_are_left_to_the_worker(vault: Vault, fake: Fake) -> None:
    from vaultcore.session import refresh as worker

    made = bridge(vault)
    upkeep.setup(made)
    write_tree(Path(qmd.cache_folder()) / "models", {"embeddinggemma-300M-Q8_0.gguf": b"GGUF" + b"\0" * 200_000})
    fake.set(pending=30, embeds=10)
    assert upkeep.refresh(made)[-1] == "vectors are missing for 20 notes, the worker goes on with them"
    marked = worker.stamp(made.root, worker.DIRTY)
    assert marked
    fake.set(embeds=0)
    upkeep.refresh(made)
    assert worker.stamp(made.root, worker.DIRTY) == marked, "what gets nowhere must not run for ever"


def test_a_command_that_hangs_is_ended_with_everything_it_started(
    vault: Vault, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    monkeypatch.setattr(upkeep, "UPDATE", 0.5)
    fake.set(hang=["update"])
    with pytest.raises(VaultError, match="`qmd update` failed: it was ended after"):
        upkeep.refresh(made)
    assert not os.path.exists(f"/proc/{fake.calls[-1]['pid']}/exe")


def test_the_one_worker_that_hooks_ask_refreshes_qmd_too(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    seen = len(fake.calls)
    done = subprocess.run(
        [sys.executable, "-m", "vaultbridge.cli", "--vault", made.root, "refresh", "--quiet"],
        env={**os.environ, "PYTHONPATH": "src"}, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert [call["argv"][2] for call in fake.calls[seen:]] == ["update"]


def test_a_write_of_the_bridge_asks_the_worker_only_where_qmd_is_used(
    vault: Vault, fake: Fake, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultcore.session import refresh as worker

    asked = []
    monkeypatch.setattr(worker, "start", lambda root, code: asked.append(root))
    made = bridge(vault)
    made.written(["notes/alpha.md"])
    assert asked == []
    upkeep.setup(made)
    other = Bridge(made.root)
    other.written(["notes/alpha.md"])
    assert asked == [made.root]


# -- the command ----------------------------------------------------------------------------------------------------


def run(root: Path | str, *words: str) -> tuple[int, str]:
    code = str(Path(__file__).resolve().parents[3])
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        done = CliRunner().invoke(command, list(words), obj=Session(str(root), code))
    return done.exit_code, done.output + (str(done.exception) if done.exception else "")


def test_set_up_offers_qmd_to_the_vaults_own_sessions_and_keeps_their_other_servers(vault: Vault, fake: Fake) -> None:
    made = bridge(vault, **{".mcp.json": '{\n  // mine\n  "mcpServers": {"x": {"command": "y"}}\n}\n'})
    assert run(made.root, "setup")[0] == 0
    text = Path(made.root, ".mcp.json").read_text()
    assert "// mine" in text and '"x": {"command": "y"}' in text
    assert '"qmd"' in text and '"mcp"' in text
    assert run(made.root, "setup")[0] == 0
    assert Path(made.root, ".mcp.json").read_text() == text


def test_nothing_is_offered_when_that_was_not_wanted(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    assert run(made.root, "setup", "--no-mcp")[0] == 0
    assert not Path(made.root, ".mcp.json").exists()


def test_a_fresh_clone_names_no_server_that_only_works_where_qmd_is_set_up() -> None:
    shipped = Path(__file__).resolve().parents[3] / ".mcp.json"
    assert not shipped.exists() or "qmd" not in json.loads(shipped.read_text()).get("mcpServers", {})


@pytest.mark.parametrize("others", ["", '{\n  "mcpServers": {\n    "x": {"command": "y"}\n  }\n}\n'])
def test_a_vault_taken_out_of_qmd_leaves_nothing_there(vault: Vault, fake: Fake, others: str) -> None:
    made = bridge(vault, **({".mcp.json": others} if others else {}))
    assert run(made.root, "setup")[0] == 0
    assert run(made.root, "remove")[0] == 0
    assert not os.path.exists(qmd.config_path("vault")) and not os.path.exists(qmd.store_path("vault"))
    file = Path(made.root, ".mcp.json")
    assert (file.read_text() if file.exists() else "") == others
    assert "qmd has no index of this vault" in run(made.root, "remove")[1]


def test_a_vault_taken_out_of_a_shared_index_leaves_the_rest_of_it(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    path = Path(qmd.config_path("vault"))
    rest = "# mine\ncollections:\n  docs:\n    path: /docs   # others\nmodels:\n  embed: x\n"
    write_tree(path.parent, {"vault.yml": rest.replace("models:", f"  vault:\n    path: {made.root}\nmodels:")})
    upkeep.setup(made)
    upkeep.remove(made)
    assert path.read_text() == rest
    assert [call["argv"][2] for call in fake.calls[-2:]] == ["update", "cleanup"]


def test_status_names_everything_there_is_to_know(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    assert "not set up" in run(made.root, "status")[1]
    upkeep.setup(made)
    told = json.loads(run(made.root, "status", "--json")[1])
    assert (told["qmd"], told["index"], told["store"]) == ("2.8.3", "vault", qmd.store_path("vault"))
    assert told["missing"] == ["embed", "generate", "rerank"]
    assert told["findings"][0]["state"] == "note"


def test_refresh_by_hand_says_when_there_is_nothing_to_refresh(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    assert "qmd has no index of this vault" in run(made.root, "refresh")[1]
    ruled_out = bridge(vault, ', "search": {"backend": "embedded"}')
    assert "search.backend is embedded" in run(ruled_out.root, "refresh")[1]
    assert fake.calls == []


def test_two_threads_of_one_process_do_not_refresh_at_the_same_time(vault: Vault, fake: Fake) -> None:
    made = bridge(vault)
    upkeep.setup(made)
    said: list[list[str]] = []
    threads = [threading.Thread(target=lambda: said.append(upkeep.refresh(made, wait=30))) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [line[-1] for line in said] == ["Indexed: 1 new, 0 updated, 0 unchanged, 0 removed"] * 2
    assert manifest.load(made.root).get("qmd_index") == ""
