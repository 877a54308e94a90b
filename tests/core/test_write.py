"""The one writer: whole or not at all, never outside the vault, never over what it has not seen."""

from __future__ import annotations

import errno
import os
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from vaultcore import write
from vaultcore.errors import Refusal, VaultError

Vault = Callable[..., Path]


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file() or path.is_symlink())


def refusal(code: str, call: Callable[..., object], *arguments: object, **named: object) -> Refusal:
    with pytest.raises(Refusal) as caught:
        call(*arguments, **named)
    assert caught.value.code == code, caught.value
    assert str(caught.value).endswith(".")
    return caught.value


def test_a_new_file_is_whole_with_its_folders_and_its_usual_mode(vault: Vault) -> None:
    root = vault()
    assert write.create(str(root), "a/b/計画.md", b"x\r\n\xff") == "a/b/計画.md"
    assert (root / "a/b/計画.md").read_bytes() == b"x\r\n\xff"
    mask = os.umask(0)
    os.umask(mask)
    assert (root / "a/b/計画.md").stat().st_mode & 0o777 == 0o666 & ~mask
    assert (root / "a/b/計画.md").stat().st_nlink == 1
    assert files(root) == ["a/b/計画.md", "vault-manifest.json"]


def test_create_never_replaces(vault: Vault) -> None:
    root = vault({"a.md": "mine", "folder/x.md": ""})
    (root / "dangling.md").symlink_to("nowhere.md")
    for rel in ("a.md", "folder", "dangling.md"):
        refusal("exists", write.create, str(root), rel, b"x")
    refusal("exists", write.create, str(root), "a.md/b.md", b"x")
    assert (root / "a.md").read_text() == "mine"
    assert files(root) == ["a.md", "dangling.md", "folder/x.md", "vault-manifest.json"]


def test_replace_checks_the_revision_and_keeps_the_mode(vault: Vault) -> None:
    root = vault({"a.md": "one"})
    (root / "a.md").chmod(0o640)
    seen = write.revision(b"one")
    write.replace(str(root), "a.md", b"two", seen)
    assert (root / "a.md").read_text() == "two"
    assert (root / "a.md").stat().st_mode & 0o777 == 0o640
    error = refusal("changed", write.replace, str(root), "a.md", b"three", seen)
    assert error.details == {"expected": seen, "found": write.revision(b"two")}
    refusal("missing", write.replace, str(root), "b.md", b"x", seen)
    refusal("missing", write.replace, str(root), "c/b.md", b"x", seen)
    write.replace(str(root), "a.md", b"four", None)
    write.replace(str(root), "c/new.md", b"five", None)
    assert files(root) == ["a.md", "c/new.md", "vault-manifest.json"]


def test_move_never_overwrites(vault: Vault) -> None:
    root = vault({"a.md": "a", "b.md": "b", "d/x.md": ""})
    refusal("exists", write.move, str(root), "a.md", "b.md")
    refusal("exists", write.move, str(root), "a.md", "a.md")
    refusal("missing", write.move, str(root), "gone.md", "c.md")
    refusal("folder", write.move, str(root), "d", "e")
    write.move(str(root), "a.md", "new/c.md")
    assert files(root) == ["b.md", "d/x.md", "new/c.md", "vault-manifest.json"]
    assert (root / "new/c.md").read_text() == "a"
    assert (root / "new/c.md").stat().st_nlink == 1


def test_remove_takes_the_file_or_the_link_itself(vault: Vault) -> None:
    root = vault({"a.md": "a", "d/x.md": ""})
    (root / "l.md").symlink_to("a.md")
    write.remove(str(root), "l.md")
    assert files(root) == ["a.md", "d/x.md", "vault-manifest.json"]
    write.remove(str(root), "a.md")
    refusal("missing", write.remove, str(root), "a.md")
    refusal("folder", write.remove, str(root), "d")


@pytest.mark.parametrize(
    ("rel", "code"),
    [
        ("../x.md", "outside"), ("a/../../x.md", "outside"), ("/tmp/x.md", "outside"), ("~/x.md", "outside"),
        ("C:/x.md", "outside"),
        ("..\\x.md", "name"), (".git/hooks/x", "outside"), ("a/.hidden/x.md", "outside"), (".env", "outside"),
        (".om", "outside"),
        (".om/../.git/x", "outside"), (".om/.x", "outside"), ("outdir/x.md", "outside"), ("outdir/new/x.md", "outside"),
        ("hiddendir/x.md", "outside"), ("", "name"), ("a//b.md", "name"), ("a/", "name"), ("./a.md", "name"),
        ("a\0.md", "name"),
        ("a\\b.md", "name"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("act", ["create", "replace", "blind", "move", "moveto", "remove"])
def test_nothing_is_written_outside_the_vault(vault: Vault, tmp_path: Path, rel: str, code: str, act: str) -> None:
    root = vault({"a.md": "a", ".git/hooks/x": "x", ".env": "x"})
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x.md").write_text("theirs")
    (root / "outdir").symlink_to(outside)
    (root / "hiddendir").symlink_to(".git")
    before = files(tmp_path)
    call: dict[str, Callable[[], object]] = {
        "create": lambda: write.create(str(root), rel, b"x"),
        "replace": lambda: write.replace(str(root), rel, b"x", write.revision(b"theirs")),
        "blind": lambda: write.replace(str(root), rel, b"x", None),
        "move": lambda: write.move(str(root), rel, "b.md"),
        "moveto": lambda: write.move(str(root), "a.md", rel),
        "remove": lambda: write.remove(str(root), rel),
    }
    refusal(code, call[act])
    assert files(tmp_path) == before
    assert (outside / "x.md").read_text() == "theirs"


def test_a_link_as_the_last_part_is_followed_inside_the_vault_only(vault: Vault, tmp_path: Path) -> None:
    root = vault({"a.md": "a"})
    (tmp_path / "x.md").write_text("theirs")
    (root / "out.md").symlink_to(tmp_path / "x.md")
    (root / "in.md").symlink_to("a.md")
    refusal("outside", write.replace, str(root), "out.md", b"x", None)
    refusal("outside", write.replace, str(root), "out.md", b"x", write.revision(b"theirs"))
    write.replace(str(root), "in.md", b"new", write.revision(b"a"))
    assert (root / "in.md").is_symlink()
    assert (root / "a.md").read_text() == "new"
    assert (tmp_path / "x.md").read_text() == "theirs"
    write.move(str(root), "out.md", "moved.md")
    assert (root / "moved.md").is_symlink()
    write.remove(str(root), "moved.md")
    assert (tmp_path / "x.md").read_text() == "theirs"


def test_the_vaults_own_folders_and_on_request_other_dot_files_may_be_written(vault: Vault) -> None:
    root = vault()
    write.create(str(root), ".om/projects.json", b"{}")
    write.create(str(root), ".cache/x", b"{}")
    write.create(str(root), ".obsidian/app.json", b"{}", hidden=True)
    refusal("outside", write.create, str(root), "../x", b"", hidden=True)
    assert files(root) == [".cache/x", ".obsidian/app.json", ".om/projects.json", "vault-manifest.json"]


@pytest.mark.parametrize(
    "name",
    [
        "CON", "con.md", "Aux.md", "lpt1.txt.md", "COM¹.md", "dot.", "blank ", " blank.md", "a:b.md", "a?.md", 'a".md',
        "a|b.md",
        "a<b>.md", "a*.md", "line\nbreak.md", "nul\x01.md", "é" * 128 + ".md", "a\u2028b.md", "\ud800.md",
    ],
)  # fmt: skip
def test_names_that_not_every_system_can_store_are_refused(vault: Vault, name: str) -> None:
    root = vault({"a.md": ""})
    refusal("name", write.create, str(root), name, b"")
    refusal("name", write.create, str(root), f"{name}/a.md", b"")
    refusal("name", write.move, str(root), "a.md", name)
    assert files(root) == ["a.md", "vault-manifest.json"]


@pytest.mark.parametrize(
    "name", ["console.md", "a.b.c.md", "x" * 252 + ".md", "ÄÖ 計画 😀.md", "it's (fine), yes & no.md", "#1.md"]
)
def test_ordinary_names_are_taken(vault: Vault, name: str) -> None:
    assert write.create(str(vault()), name, b"") == name


def test_a_folder_that_exists_under_such_a_name_is_fine(vault: Vault) -> None:
    root = vault({"What now?/a.md": ""})
    assert write.create(str(root), "What now?/b.md", b"") == "What now?/b.md"


@pytest.mark.parametrize("act", ["create", "replace", "blind"])
def test_a_full_disk_leaves_nothing_behind(vault: Vault, act: str, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({"a.md": "old"})
    real = os.write

    def full(fd: int, data: bytes) -> int:
        if len(data) > 5:
            return real(fd, data[:5])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(VaultError, match=r"no room is left on the disk\. Free some space"):
        if act == "create":
            write.create(str(root), "new/deep/b.md", b"0123456789")
        else:
            write.replace(str(root), "a.md", b"0123456789", write.revision(b"old") if act == "replace" else None)
    assert files(root) == ["a.md", "vault-manifest.json"]
    assert not (root / "new").exists()
    assert (root / "a.md").read_text() == "old"


def test_a_file_size_limit_is_a_sentence_too(vault: Vault, python: str) -> None:
    root = vault()
    code = (
        "import resource, signal, sys; sys.path.insert(0, sys.argv[1]); from vaultcore import write\n"
        "from vaultcore.errors import VaultError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN); resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\n"
        "try:\n    write.create(sys.argv[2], 'n.md', b'x' * 5000)\nexcept VaultError as error:\n    print(error)"
    )
    source = os.path.dirname(os.path.dirname(write.__file__))
    done = subprocess.run([python, "-c", code, source, str(root)], capture_output=True, text=True, check=True)
    assert "no room is left" in done.stdout
    assert files(root) == ["vault-manifest.json"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EPERM])
def test_a_folder_that_cannot_be_written_is_said_so(vault: Vault, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({"a.md": "old"})
    real = os.open

    def closed(path: str, flags: int, *rest: int) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(root)):
            raise OSError(code, os.strerror(code))
        return real(path, flags, *rest)

    monkeypatch.setattr(os, "open", closed)
    for call in (lambda: write.create(str(root), "x/b.md", b""), lambda: write.replace(str(root), "a.md", b"", None)):
        with pytest.raises(VaultError, match="no permission there"):
            call()
    assert files(root) == ["a.md", "vault-manifest.json"]
    assert not (root / "x").exists()


def test_a_read_only_note_is_not_replaced(vault: Vault) -> None:
    root = vault({"a.md": "old"})
    (root / "a.md").chmod(0o444)
    with pytest.raises(VaultError, match="marked read-only"):
        write.replace(str(root), "a.md", b"new", None)
    assert (root / "a.md").read_text() == "old"


def test_a_vault_that_is_gone_is_not_made_again(vault: Vault) -> None:
    root = vault({"a.md": "old"})
    root.rename(root.with_name("away"))
    for call in (
        lambda: write.create(str(root), "x/b.md", b""),
        lambda: write.replace(str(root), "a.md", b"", None),
        lambda: write.move(str(root), "a.md", "b.md"),
        lambda: write.remove(str(root), "a.md"),
    ):
        with pytest.raises(VaultError, match=r"The vault .* is not there"):
            call()
    assert not root.exists()


def test_without_hard_links_a_name_is_still_claimed_once(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    root = vault({"taken.md": "mine"})

    def none(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", none)
    assert write.create(str(root), "a.md", b"whole") == "a.md"
    refusal("exists", write.create, str(root), "taken.md", b"x")
    write.move(str(root), "a.md", "b.md")
    assert files(root) == ["b.md", "taken.md", "vault-manifest.json"]
    assert (root / "b.md").read_bytes() == b"whole"

    def lost(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "replace", lost)
    with pytest.raises(VaultError):
        write.create(str(root), "c.md", b"x")
    assert files(root) == ["b.md", "taken.md", "vault-manifest.json"]


@pytest.mark.parametrize("links", ["with", "without"])
def test_of_many_processes_one_gets_a_name(vault: Vault, python: str, links: str) -> None:
    root = vault()
    code = (
        "import os, sys; sys.path.insert(0, sys.argv[1]); from vaultcore import write\n"
        "from vaultcore.errors import Refusal\n"
        "def none(*a, **k): raise OSError(1, 'no')\n"
        "if sys.argv[3] == 'without': os.link = none\n"
        "sys.stdin.readline()\n"
        "for turn in range(20):\n"
        "    try:\n"
        "        write.create(sys.argv[2], f'n{turn}.md', sys.argv[4].encode() * 1000); print(turn)\n"
        "    except Refusal as error: assert error.code == 'exists'"
    )
    source = os.path.dirname(os.path.dirname(write.__file__))
    workers = [
        subprocess.Popen(
            [python, "-c", code, source, str(root), links, str(number)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        for number in range(4)
    ]  # fmt: skip
    told = [worker.communicate("go\n", timeout=60)[0].split() for worker in workers]
    assert [worker.returncode for worker in workers] == [0, 0, 0, 0]
    assert sorted(int(turn) for turns in told for turn in turns) == list(range(20))
    for number, turns in enumerate(told):
        assert all((root / f"n{turn}.md").read_bytes() == str(number).encode() * 1000 for turn in turns)
    assert len(files(root)) == 21


def test_of_many_threads_each_change_is_kept(vault: Vault) -> None:
    root = vault({"n.md": "0"})
    path = root / "n.md"

    def add() -> None:
        for _ in range(10):
            while True:
                before = path.read_bytes()
                try:
                    write.replace(str(root), "n.md", str(int(before) + 1).encode(), write.revision(before))
                    break
                except Refusal as error:
                    assert error.code == "changed"

    threads = [threading.Thread(target=add) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert path.read_text() == "40"
    assert files(root) == ["n.md", "vault-manifest.json"]


def test_a_lock_keeps_others_out_until_it_is_free_or_its_holder_is_killed(vault: Vault, python: str) -> None:
    root = str(vault())
    with write.lock(root, "one"):
        assert refusal("busy", write.lock(root, "one", timeout=0.05).__enter__).details["lock"]
        with write.lock(root, "two", timeout=0):
            pass
    with write.lock(root, "one", timeout=0):
        pass
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1]); from vaultcore import write\n"
        "with write.lock(sys.argv[2], 'one'):\n    print('held', flush=True); time.sleep(60)"
    )
    source = os.path.dirname(os.path.dirname(write.__file__))
    holder = subprocess.Popen([python, "-c", code, source, root], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    try:
        assert holder.stdout.readline().strip() == b"held"
        refusal("busy", write.lock(root, "one", timeout=0.05).__enter__)
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    with write.lock(root, "one", timeout=5):
        pass
    assert files(Path(root)) == ["vault-manifest.json"]
