"""`om register` and `om unregister` on real folders: what is written, what is left alone, and the way back."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.conftest import write_tree
from tests.repositories import git, repo
from vaultbridge.cli import projects as projects_command
from vaultbridge.cli import register as register_command
from vaultbridge.cli import unregister as unregister_command
from vaultbridge.registration import record
from vaultcore import identity, projects
from vaultcore.errors import VaultError

ALL = "claude,codex,gemini,cursor,vscode,copilot"
FILES = {
    "claude": (".mcp.json", ".claude.json"),
    "codex": (".codex/config.toml", ".codex/config.toml"),
    "gemini": (".gemini/settings.json", ".gemini/settings.json"),
    "cursor": (".cursor/mcp.json", ".cursor/mcp.json"),
    "vscode": (".vscode/mcp.json", ".config/Code/User/mcp.json"),
    "copilot": (".mcp.json", ".copilot/mcp-config.json"),
}
posix = pytest.mark.skipif(sys.platform != "linux", reason="where Linux keeps settings")


@pytest.fixture
def root(vault: Callable[..., Path]) -> Path:
    """A vault that holds om.py, as a clone does."""
    return vault({"om.py": "", ".om/.keep": ""})


def run(root: Path, command: Any, *words: object) -> Result:
    session = SimpleNamespace(root=str(root), code=str(root))
    return CliRunner().invoke(command, [str(word) for word in words], obj=session)


def register(root: Path, *words: object) -> Result:
    return run(root, register_command.command, *words)


def unregister(root: Path, *words: object) -> Result:
    return run(root, unregister_command.command, *words)


def tree(folder: Path, but: tuple[str, ...] = (".git",)) -> dict[str, bytes | None]:
    """Every file and folder below `folder`; None stands for a folder. Of git's own only the exclude file."""
    found: dict[str, bytes | None] = {}
    for path in sorted(folder.rglob("*")):
        relative = path.relative_to(folder).as_posix()
        if relative.split("/")[0] in but and relative != ".git/info/exclude":
            continue
        found[relative] = path.read_bytes() if path.is_file() else None
    return found


def state(home: Path) -> dict[str, bytes | None]:
    return tree(home, (".cache", ".local", ".git"))


def test_a_repository_is_registered_with_every_client_and_taken_back_byte_for_byte(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "my app")
    write_tree(app, {".vscode/mcp.json": '{\n  // mine\n  "servers": {"x": {}}\n}\n', "README.md": "# x\n"})
    before = tree(app)
    done = register(root, app, "--agent", ALL)
    assert done.exit_code == 0, done.output
    python = sys._base_executable
    start = {"type": "stdio", "command": python, "args": [str(root / "om.py"), "serve"]}
    rooted = {**start, "args": [*start["args"], "--root=${workspaceFolder}"]}
    assert json.loads((app / ".mcp.json").read_text()) == {"mcpServers": {"om": {**start, "tools": ["*"]}}}
    assert json.loads((app / ".cursor/mcp.json").read_text()) == {"mcpServers": {"om": rooted}}
    assert "// mine" in (app / ".vscode/mcp.json").read_text()
    gemini = json.loads((app / ".gemini/settings.json").read_text())["mcpServers"]["om"]
    assert gemini["args"] == start["args"] and gemini["timeout"] > 10_000
    codex = (app / ".codex/config.toml").read_text()
    assert "[mcp_servers.om]" in codex and "startup_timeout_sec = 30" in codex and "tool_timeout_sec" in codex
    assert "- a design decision" not in done.output or "AGENTS.md" in done.output
    assert projects.load(str(root)).entries["my app"].agents == ALL.split(",")
    status = git(app, "status", "--porcelain", "--untracked-files=all")
    assert "AGENTS.md" in status and ".mcp.json" not in status and "config.toml" not in status
    assert register(root, app, "--agent", ALL).output.strip().endswith("nothing to do")
    back = unregister(root, app)
    assert back.exit_code == 0, back.output
    assert tree(app) == before
    assert unregister(root, app).output.strip() == "nothing to do"
    assert record.load(str(root)) == {} and not os.path.exists(record.path(str(root)))


@posix
@pytest.mark.parametrize("agent", list(FILES))
def test_one_user_level_registration_and_its_way_back(root: Path, closed_world: Path, agent: str) -> None:
    existing = {"codex": "model = 'x' # mine\n"}.get(agent, '{"theirs": {"a": 1}, "token": "s3cr3t"}')
    write_tree(closed_world, {FILES[agent][1]: existing})
    before = state(closed_world)
    done = register(root, "--user", "--agent", agent)
    assert done.exit_code == 0, done.output
    text = (closed_world / FILES[agent][1]).read_text()
    assert str(root / "om.py") in text and text != existing
    assert ("--root=${workspaceFolder}" in text) == (agent in ("cursor", "vscode"))
    assert not os.path.exists(root / ".om" / "projects.json"), "no repository, nothing to bind"
    kept = Path(record.path(str(root)))
    assert "s3cr3t" not in kept.read_text() and kept.stat().st_mode & 0o077 == 0
    assert register(root, "--user", "--agent", agent).output.strip().endswith("nothing to do")
    assert unregister(root, "--user").exit_code == 0
    assert state(closed_world) == before


@posix
def test_the_clients_found_are_the_default_and_none_is_an_error(
    tmp_path: Path, root: Path, closed_world: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(write_tree(tmp_path / "bin", {"gemini": ""})))
    app = repo_without_git(tmp_path / "app")
    none = register(root, app)
    assert isinstance(none.exception, VaultError) and "--agent" in str(none.exception)
    assert f"run `python3 {root / 'om.py'} register {app} --agent claude`" in str(none.exception)
    os.chmod(tmp_path / "bin" / "gemini", 0o755)
    (closed_world / ".codex").mkdir()
    (app / ".cursor").mkdir()
    assert register(root, app).exit_code == 0
    assert (app / ".gemini").is_dir() and (app / ".codex").is_dir() and (app / ".cursor/mcp.json").is_file()
    assert not (app / ".mcp.json").exists()


def repo_without_git(folder: Path) -> Path:
    return write_tree(folder, {"x": ""})


@pytest.mark.parametrize("agent", list(FILES))
@pytest.mark.parametrize(
    "content", [b"{ nope", b"[mcp_servers\n", b"\xff\xfe\x00", b'{"mcpServers": [], "servers": 1}']
)
def test_a_file_that_cannot_be_read_is_left_alone_and_the_snippet_printed(
    tmp_path: Path, root: Path, agent: str, content: bytes
) -> None:
    app = write_tree(repo(tmp_path / "app"), {FILES[agent][0]: content})
    done = register(root, app, "--agent", agent)
    assert done.exit_code == 0, done.output
    assert (app / FILES[agent][0]).read_bytes() == content
    assert "left alone" in done.output and str(root / "om.py") in done.output
    unregister(root, app)
    assert (app / FILES[agent][0]).read_bytes() == content


def test_a_server_of_the_same_name_that_is_another_program_is_left_alone(tmp_path: Path, root: Path) -> None:
    content = '{"mcpServers": {"om": {"command": "ohm-meter"}}}'
    app = write_tree(repo(tmp_path / "app"), {".mcp.json": content})
    done = register(root, app, "--agent", "claude")
    assert "another program" in done.output and (app / ".mcp.json").read_text() == content
    unregister(root, app)
    assert (app / ".mcp.json").read_text() == content


def test_a_dry_run_shows_the_diff_and_writes_nothing(tmp_path: Path, root: Path, closed_world: Path) -> None:
    app = repo(tmp_path / "app")
    before = tree(app), tree(root), tree(closed_world, ())
    done = register(root, app, "--agent", ALL, "--dry-run")
    assert done.exit_code == 0 and "+++ " + str(app / ".mcp.json") in done.output and "nothing written" in done.output
    assert (tree(app), tree(root)) == before[:2]
    assert {k for k in tree(closed_world, ()) if ".cache" not in k} == {k for k in before[2] if ".cache" not in k}


def test_json_output_says_what_was_done(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    found = json.loads(register(root, app, "--agent", "claude", "--json").output)
    assert found["project"] == "app" and found["changed"] and found["agents"] == ["claude"]
    assert {row["action"] for row in found["files"]} == {"create", "change"}
    again = json.loads(register(root, app, "--agent", "claude", "--json").output)
    assert not again["changed"] and again["files"] == []
    assert [row["action"] for row in json.loads(unregister(root, app, "--json").output)["files"]].count("remove") == 2


def test_a_portable_registration_holds_no_path_of_this_machine(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    done = register(root, app, "--agent", ALL, "--portable")
    assert done.exit_code == 0 and "OM_VAULT" in done.output
    for agent, (name, _) in FILES.items():
        text = (app / name).read_text()
        assert str(tmp_path) not in text and sys.prefix not in text and "OM_VAULT" in text, agent
    assert "om-vault" not in (app / ".git/info/exclude").read_text()
    assert "${env:OM_VAULT}/om.py" in (app / ".cursor/mcp.json").read_text()
    assert "${OM_VAULT}/om.py" in (app / ".mcp.json").read_text()


def test_an_adopted_vault_is_named_to_the_server_and_has_no_portable_form(tmp_path: Path, root: Path) -> None:
    other = write_tree(tmp_path / "adopted", {"vault-manifest.json": "{}"})
    session = SimpleNamespace(root=str(other), code=str(root))
    app = repo(tmp_path / "app")
    words = [str(app), "--agent", "claude"]
    assert CliRunner().invoke(register_command.command, words, obj=session).exit_code == 0
    arguments = json.loads((app / ".mcp.json").read_text())["mcpServers"]["om"]["args"]
    assert arguments == [str(root / "om.py"), "serve", "--vault", str(other)]
    refused = CliRunner().invoke(register_command.command, [*words, "--portable"], obj=session)
    assert isinstance(refused.exception, VaultError) and "--portable" in str(refused.exception)


def test_a_tracked_file_is_pointed_out_instead_of_ignored(tmp_path: Path, root: Path) -> None:
    app = write_tree(repo(tmp_path / "app"), {".mcp.json": "{}"})
    git(app, "add", ".mcp.json")
    done = register(root, app, "--agent", "claude,gemini")
    assert ".mcp.json holds a path of this machine and is tracked by git" in done.output
    exclude = (app / ".git/info/exclude").read_text()
    assert "/.gemini/settings.json" in exclude and "/.mcp.json" not in exclude


def test_a_link_that_leaves_the_repository_is_not_followed(tmp_path: Path, root: Path) -> None:
    outside = write_tree(tmp_path / "outside", {"mcp.json": "{}", "AGENTS.md": "x\n"})
    app = repo(tmp_path / "app")
    (app / ".mcp.json").symlink_to(outside / "mcp.json")
    (app / "AGENTS.md").symlink_to(outside / "AGENTS.md")
    (app / ".gemini").symlink_to(outside)
    done = register(root, app, "--agent", "claude,gemini")
    assert done.output.count("link that leaves the repository") == 3
    assert tree(outside) == {"AGENTS.md": b"x\n", "mcp.json": b"{}"}


def test_a_users_linked_settings_stay_a_link(root: Path, closed_world: Path, tmp_path: Path) -> None:
    dotfiles = write_tree(tmp_path / "dotfiles", {"claude.json": "{}"})
    (closed_world / ".claude.json").symlink_to(dotfiles / "claude.json")
    assert register(root, "--user", "--agent", "claude").exit_code == 0
    assert (closed_world / ".claude.json").is_symlink() and "om.py" in (dotfiles / "claude.json").read_text()
    unregister(root, "--user")
    assert (dotfiles / "claude.json").read_text() == "{}"


@pytest.mark.parametrize(
    ("files", "agents", "written"),
    [
        ({}, "claude", ["AGENTS.md"]),
        ({"CLAUDE.md": "# c\n"}, "claude", ["CLAUDE.md"]),
        ({"AGENTS.md": "# a\n"}, "claude", ["AGENTS.md"]),
        ({"AGENTS.md": "# a\n", "CLAUDE.md": "@AGENTS.md\n"}, "claude", ["AGENTS.md"]),
        ({"AGENTS.md": "# a\n", "CLAUDE.md": "# c\n"}, "claude", ["AGENTS.md", "CLAUDE.md"]),
        ({"AGENTS.md": "# a\n", "CLAUDE.md": "# c\n"}, "codex", ["AGENTS.md"]),
        ({"CLAUDE.md": "# c\n"}, "codex", ["AGENTS.md"]),
        ({"CLAUDE.md": "# c\n"}, "claude,codex", ["AGENTS.md", "CLAUDE.md"]),
        ({"CLAUDE.md": "# c\n@./AGENTS.md\n"}, "claude,cursor", ["AGENTS.md"]),
        ({"CLAUDE.md": "@AGENTS.md\n"}, "claude", ["AGENTS.md"]),
        ({}, "gemini", ["GEMINI.md"]),
        ({}, "claude,gemini", ["AGENTS.md", "GEMINI.md"]),
        ({"CLAUDE.md": "# c\n"}, "gemini", ["GEMINI.md"]),
        ({"GEMINI.md": "@AGENTS.md\n"}, "gemini", ["AGENTS.md"]),
        ({"CLAUDE.md": "# c\n", ".gemini/settings.json": '{"context": {"fileName": ["AGENTS.md"]}}'},
         "claude,gemini", ["AGENTS.md", "CLAUDE.md"]),
    ],
)  # fmt: skip
def test_the_section_goes_where_agents_look(
    tmp_path: Path, root: Path, files: Mapping[str, str], agents: str, written: list[str]
) -> None:
    app = write_tree(repo(tmp_path / "app"), files)
    before = tree(app)
    register(root, app, "--agent", agents, "--trigger", "money", "--trigger", "time")
    found = [name for name in ("AGENTS.md", "CLAUDE.md", "GEMINI.md") if "om-vault:start" in text_of(app / name)]
    assert found == written
    assert "- money\n- time\n" in text_of(app / written[0])
    unregister(root, app)
    assert tree(app) == before


def text_of(path: Path) -> str:
    return path.read_text() if path.exists() else ""


def test_triggers_are_taken_from_the_repository(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    write_tree(
        app,
        {
            "src/billing/a.py": "", "src/b.py": "", "web/c.ts": "", ".hidden/x.rs": "", "node_modules/y.go": "",
            "pyproject.toml": '[project]\nname = "acme-billing"\n',
            "README.md": "# Acme\n\n## Install\n\n## Dunning <b>rules</b>\n\n```\n## no heading\n```\n## Ledger\n",
        },
    )  # fmt: skip
    register(root, app, "--agent", "codex")
    lines = [line[2:] for line in text_of(app / "AGENTS.md").splitlines() if line.startswith("- ")]
    assert lines == [
        "a design decision about Python or TypeScript code",
        "work in `src/` or `web/`",
        "the release, dependencies or callers of `acme-billing`",
        'anything about "Dunning rules" or "Ledger"',
        "choosing a library, a pattern or a convention",
    ]
    write_tree(app, {"zig/d.zig": "", "zig/e.zig": "", "zig/f.zig": "", "zig/g.zig": ""})
    assert register(root, app, "--agent", "codex").output.strip().endswith("nothing to do"), "triggers stay as written"


def test_an_empty_repository_still_gets_three_triggers(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    register(root, app, "--agent", "codex")
    assert sum(line.startswith("- ") for line in text_of(app / "AGENTS.md").splitlines()) == 3


def test_what_a_user_wrote_since_stays_when_ours_is_taken_back(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    write_tree(app, {"AGENTS.md": "# Mine\n", ".codex/config.toml": "a = 1\n"})
    register(root, app, "--agent", "claude,codex,gemini")
    mcp = json.loads((app / ".mcp.json").read_text())
    mcp["mcpServers"]["theirs"] = {"command": "x"}
    (app / ".mcp.json").write_text(json.dumps(mcp))
    (app / "AGENTS.md").write_text("# New head\n" + (app / "AGENTS.md").read_text() + "\nNew tail\n")
    (app / ".codex/config.toml").write_text((app / ".codex/config.toml").read_text() + "\n[b]\nc = 2\n")
    (app / ".gemini/settings.json").unlink()
    done = unregister(root, app)
    assert done.exit_code == 0, done.output
    assert json.loads((app / ".mcp.json").read_text()) == {"mcpServers": {"theirs": {"command": "x"}}}
    assert (app / "AGENTS.md").read_text() == "# New head\n# Mine\n\nNew tail\n"
    assert (app / ".codex/config.toml").read_text() == "a = 1\n\n[b]\nc = 2\n"
    assert not (app / ".gemini/settings.json").exists()


def test_a_lost_record_costs_only_the_exact_bytes(tmp_path: Path, root: Path) -> None:
    app = write_tree(repo(tmp_path / "app"), {"AGENTS.md": "# Mine\n", ".mcp.json": '{"a": 1}'})
    register(root, app, "--agent", "claude,codex")
    os.unlink(record.path(str(root)))
    assert unregister(root, app).exit_code == 0
    assert json.loads((app / ".mcp.json").read_text()) == {"a": 1}
    assert (app / "AGENTS.md").read_text() == "# Mine\n"
    assert "om.py" not in text_of(app / ".codex/config.toml")


def test_registering_again_after_an_edit_still_leads_back_to_the_first_bytes(tmp_path: Path, root: Path) -> None:
    app = write_tree(repo(tmp_path / "app"), {"AGENTS.md": "# Mine\n", ".mcp.json": '{ "a":1 }'})
    before = tree(app)
    register(root, app, "--agent", "claude", "--trigger", "one")
    register(root, app, "--agent", "claude,copilot", "--trigger", "two")
    assert "- two" in text_of(app / "AGENTS.md") and "tools" in text_of(app / ".mcp.json")
    unregister(root, app)
    assert tree(app) == before


def test_what_a_person_added_to_our_entry_survives_registering_again(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    register(root, app, "--agent", "claude")
    mcp = json.loads((app / ".mcp.json").read_text())
    mcp["mcpServers"]["om"].update(env={"A": "b"}, command="old-python")
    (app / ".mcp.json").write_text(json.dumps(mcp))
    register(root, app, "--agent", "claude")
    entry = json.loads((app / ".mcp.json").read_text())["mcpServers"]["om"]
    assert entry["env"] == {"A": "b"} and entry["command"] != "old-python"


def test_a_file_that_changes_under_us_is_not_overwritten(
    tmp_path: Path, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from vaultbridge.registration import plan

    app = write_tree(repo(tmp_path / "app"), {".mcp.json": "{}"})
    real = plan.apply

    def meddle(*words: Any, **named: Any) -> None:
        (app / ".mcp.json").write_text('{"new": 1}')
        real(*words, **named)

    monkeypatch.setattr(plan, "apply", meddle)
    done = register(root, app, "--agent", "claude")
    assert isinstance(done.exception, VaultError) and "run this again" in str(done.exception)
    assert (app / ".mcp.json").read_text() == '{"new": 1}'


def test_the_name_and_platforms_are_declared_with_the_registration(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    register(root, app, "--agent", "claude", "--as", "Atlas Core", "--platform", "Linux")
    caller = identity.resolve(str(root), None, [identity.Claim("cwd", str(app))])
    assert caller.project == "atlas core" and caller.platforms == ("linux",)
    renamed = register(root, app, "--agent", "claude", "--as", "Atlas", "--dry-run")
    assert "what was remembered for atlas core stays with that name" in renamed.output
    rival = register(root, repo(tmp_path / "atlas core"), "--agent", "claude")
    assert isinstance(rival.exception, VaultError) and "--as NEWNAME" in str(rival.exception)
    assert not (tmp_path / "atlas core" / ".mcp.json").exists()
    assert register(root, tmp_path / "atlas core", "--agent", "claude", "--same").exit_code == 0


def test_a_linked_worktree_gets_its_own_files_and_its_main_repositorys_name(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    git(app, "worktree", "add", "-q", str(tmp_path / "wt"))
    (tmp_path / "wt" / "deep").mkdir()
    done = register(root, tmp_path / "wt" / "deep", "--agent", "claude")
    assert done.exit_code == 0 and (tmp_path / "wt" / ".mcp.json").is_file() and not (app / ".mcp.json").exists()
    assert list(projects.load(str(root)).entries) == ["app"]
    assert ".mcp.json" not in git(tmp_path / "wt", "status", "--porcelain")
    assert unregister(root, tmp_path / "wt" / "deep").exit_code == 0
    assert not (tmp_path / "wt" / ".mcp.json").exists()


@pytest.mark.parametrize("left", ["app", "wt"])
def test_what_folders_of_one_repository_share_stays_until_the_last_is_taken_back(
    tmp_path: Path, root: Path, left: str
) -> None:
    app, other = repo(tmp_path / "app"), tmp_path / "wt"
    git(app, "worktree", "add", "-q", str(other))
    exclude = app / ".git" / "info" / "exclude"
    before = exclude.read_bytes()
    register(root, app, "--agent", "claude,gemini")
    register(root, other, "--agent", "claude,codex")
    (row,) = json.loads(run(root, projects_command.command, "--json").output)["projects"]
    assert "2 folders" in row["evidence"] and row["agents"] == ["claude", "gemini", "codex"]
    gone, kept = (other, app) if left == "app" else (app, other)
    assert unregister(root, gone).exit_code == 0
    assert not any(word in git(kept, "status", "--porcelain") for word in (".mcp.json", ".codex", ".gemini"))
    mine = {"app": "/.gemini/settings.json", "wt": "/.codex/config.toml"}
    lines = exclude.read_text().splitlines()
    assert "/.mcp.json" in lines and mine[left] in lines and len(set(mine.values()) & set(lines)) == 1
    (row,) = json.loads(run(root, projects_command.command, "--json").output)["projects"]
    assert sorted(row["agents"]) == sorted(["claude", mine[left].split("/")[1][1:]])
    assert unregister(root, kept).exit_code == 0
    assert exclude.read_bytes() == before and record.load(str(root)) == {}


def test_a_worktree_that_was_deleted_no_longer_holds_a_line(tmp_path: Path, root: Path) -> None:
    import shutil

    app, other = repo(tmp_path / "app"), tmp_path / "wt"
    git(app, "worktree", "add", "-q", str(other))
    before = (app / ".git/info/exclude").read_bytes()
    for folder in (app, other):
        register(root, folder, "--agent", "claude")
    shutil.rmtree(other)
    for folder in (other, app):
        assert unregister(root, folder).exit_code == 0
    assert (app / ".git/info/exclude").read_bytes() == before and record.load(str(root)) == {}


def test_a_line_that_went_missing_comes_back_with_the_next_registration(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    register(root, app, "--agent", "claude")
    (app / ".git/info/exclude").write_text("")
    assert ".mcp.json" in git(app, "status", "--porcelain")
    register(root, app, "--agent", "claude")
    assert ".mcp.json" not in git(app, "status", "--porcelain")


@pytest.mark.parametrize("name", ["bad name/..", "a/b", "a\\b", "two\nlines", "..", " "])
def test_a_name_that_would_have_to_be_changed_is_refused(tmp_path: Path, root: Path, name: str) -> None:
    app = repo(tmp_path / "app")
    done = register(root, app, "--agent", "claude", "--as", name)
    assert isinstance(done.exception, VaultError) and f"{name!r} cannot be a project's name" in str(done.exception)
    assert not (app / ".mcp.json").exists() and not projects.load(str(root)).entries


def test_a_name_is_said_as_it_is_kept(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    assert "goes by atlas core" in register(root, app, "--agent", "claude", "--as", "Atlas Core").output
    assert "goes by" not in register(root, app, "--agent", "claude", "--as", "atlas").output


def test_under_another_name_the_agents_go_with_the_folder(tmp_path: Path, root: Path) -> None:
    app = repo(tmp_path / "app")
    register(root, app, "--agent", "claude,codex")
    register(root, app, "--agent", "claude", "--as", "atlas")
    known = projects.load(str(root)).entries
    assert known["app"].agents == [] and sorted(known["atlas"].agents) == ["claude", "codex"]


@pytest.mark.parametrize(
    "words",
    [(), ("APP", "--user"), ("APP", "--agent", "emacs"), ("--user", "--as", "x"), ("APP", *(["--trigger", "x"] * 6))],
)
def test_words_that_do_not_fit_together_are_explained(tmp_path: Path, root: Path, words: tuple[str, ...]) -> None:
    app = repo(tmp_path / "app")
    done = register(root, *(app if word == "APP" else word for word in words))
    assert done.exit_code == 2 and done.output


@pytest.mark.parametrize("path", ["gone", "/"])
def test_a_folder_that_is_none_or_says_nothing_is_refused(tmp_path: Path, root: Path, path: str) -> None:
    done = register(root, tmp_path / path, "--agent", "claude")
    assert isinstance(done.exception, VaultError) and "give the folder" in str(done.exception)


def test_projects_lists_names_evidence_agents_and_who_contests(tmp_path: Path, root: Path) -> None:
    from vaultcore import binding

    assert "no projects yet" in run(root, projects_command.command).output
    register(root, repo(tmp_path / "app", "git@example.invalid:acme/app"), "--agent", "claude", "--platform", "linux")
    rival = repo(tmp_path / "rival" / "app")
    binding.bind(str(root), identity.resolve(str(root), None, [identity.Claim("cwd", str(rival))]))
    about = "---\ntags: [memory]\nscope: project\nprojects: [App, other]\n---\n# x\n"
    write_tree(root, {"memories/2026/01/2026-01-02 x.md": about})
    out = run(root, projects_command.command).output
    for word in (
        "app",
        "memories 1",
        "example.invalid/acme/app",
        "root commit",
        "linux",
        "claude",
        "CONTESTED",
        "--as NEWNAME",
    ):
        assert word in out
    (row,) = json.loads(run(root, projects_command.command, "--json").output)["projects"]
    assert row["name"] == "app" and row["agents"] == ["claude"] and len(row["contested"]) == 1
    assert str(tmp_path) not in out


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(0, 9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=4), inner, max_size=2),
    max_leaves=4,
)
DOCUMENTS = st.builds(
    lambda document, servers, indent, eol, bom, end, comment: (
        bom
        + comment
        + json.dumps({**document, **({"mcpServers": servers} if servers is not None else {})}, indent=indent)
        + end
    ).replace("\n", eol),
    st.dictionaries(st.text(max_size=4), VALUES, max_size=3),
    st.none() | st.dictionaries(st.text(max_size=3), VALUES, max_size=2),
    st.sampled_from([None, 1, 2, "\t"]),
    st.sampled_from(["\n", "\r\n"]),
    st.sampled_from(["", "\ufeff"]),
    st.sampled_from(["", "\n", "\n\n  "]),
    st.sampled_from(["", "// om.py serve\n", "/* x */"]),
)
TOML = st.lists(
    st.sampled_from(
        ["a = 1", "# c", "", "[b]", "c = '''\n[mcp_servers.om]\n'''", "[mcp_servers.x]\ne = 'y'", "  d = [\n1,\n]"]
    ),
    unique=True,
    max_size=6,
).map("\n".join)  # fmt: skip


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(mcp=DOCUMENTS, gemini=st.none() | DOCUMENTS, codex=st.none() | TOML, agents=st.none() | st.text(max_size=30),
       edits=st.booleans())  # fmt: skip
def test_register_then_unregister_leaves_every_byte(
    tmp_path_factory: pytest.TempPathFactory, mcp: str, gemini: str | None, codex: str | None, agents: str | None,
    edits: bool,
) -> None:  # fmt: skip
    base = tmp_path_factory.mktemp("world")
    root = write_tree(base / "vault", {"vault-manifest.json": "{}", "om.py": ""})
    files = {".mcp.json": mcp, ".gemini/settings.json": gemini, ".codex/config.toml": codex, "AGENTS.md": agents}
    app = write_tree(
        base / "app", {"x": "", **{name: text.encode() for name, text in files.items() if text is not None}}
    )
    before = tree(app)
    done = register(root, app, "--agent", "claude,codex,gemini")
    assert done.exit_code == 0, done.output
    assert "om.py" in (app / ".mcp.json").read_text(), done.output
    if edits:
        register(root, app, "--agent", "claude,copilot", "--trigger", "again")
    assert unregister(root, app).exit_code == 0
    assert tree(app) == before
