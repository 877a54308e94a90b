"""The seven marks: each driven over stdio on the real bridge and the real command line, with its positive control,
and again after a restart without any derived file."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import ROOT
from tests.memory.world import FRAME, Bridge, ident, memory, om, person, titles

Vault = Callable[..., Path]
MANIFEST = json.dumps({"mcp_exposed_roots": ["brain"], "memory_root": "memories"})


def forget_derived(home: Path) -> None:
    shutil.rmtree(home / ".cache", ignore_errors=True)


@pytest.fixture
def world(vault: Vault, tmp_path: Path) -> Path:
    return vault({"vault-manifest.json": MANIFEST, "brain/Live.md": "---\ndate: 2026-01-01\n---\n# Live\n\nnothing\n"})


# -- E1: what is withheld is withheld on every surface ----------------------------------------------------------------

STATES = {
    "superseded": ("superseded", "history"),
    "candidate": ("candidate", "candidates"),
    "unknown": ("frobnicated", "candidates"),
    "rejected": ("rejected", "rejected"),
    "archived": ("archived", "archived"),
    "expired": ("", "expired"),
}


def lay_out(vault: Path) -> None:
    """One memory per state, each with a token of its own and the shared word `quokka`; a live control."""
    memory(vault, "live", "quokka livetoken", paths=["src/a.py"], origin="alpha", id="m-live00000000")
    for name, (status, _) in STATES.items():
        more: dict[str, Any] = {"status": status} if status else {}
        if name == "superseded":
            more["superseded_by"] = ["m-live00000000"]
        if name == "expired":
            more["valid_until"] = "2026-03-02"
        memory(vault, name, f"quokka {name}token", paths=["src/a.py"], origin="alpha", **more)
    memory(vault, "foreign", "quokka foreigntoken", projects=("beta",), paths=["src/a.py"], origin="beta")
    memory(vault, "private", "quokka privatetoken", private="true", paths=["src/a.py"], origin="alpha")
    inbox = vault / "memories" / "_inbox" / "2026-03-01 proposed.md"
    inbox.parent.mkdir(parents=True, exist_ok=True)
    inbox.write_text("---\nscope: general\nsource: mcp-capture\n---\n# proposed\n\nquokka inboxtoken\n")


HIDDEN = [*(f"{name}token" for name in STATES), "foreigntoken", "privatetoken", "inboxtoken"]


def surfaces(bridge: Bridge, folder: Path) -> dict[str, str]:
    """What each surface says when asked for what all the memories have in common, and for each by name."""
    found = {"recall": bridge.recall("quokka"), "recall all": bridge.recall()}
    found["context"] = bridge.call("context", paths=["src/a.py"])[0]
    found["search"] = bridge.call("search", query="quokka")[0]
    found["search memories"] = bridge.call("search", query="quokka", limit=50)[0]
    for name in (*STATES, "foreign", "private", "proposed"):
        found[f"read {name}"] = bridge.call("read", note=f"memories/2026/03/{name}.md")[0]
        found[f"expand {name}"] = bridge.call("expand", note=name)[0]
        found[f"recall {name}"] = re.sub(r'query="[^"]*"', "", bridge.recall(f"{name}token"))
    found["resources"] = json.dumps(bridge.ask("resources/list"))
    found["resource"] = json.dumps(bridge.ask("resources/read", uri="vault://note/memories/2026/03/rejected.md"))
    ask = {
        "ref": {"type": "ref/resource", "uri": "vault://note/{+path}"},
        "argument": {"name": "path", "value": "memories"},
    }
    found["completion"] = json.dumps(bridge.ask("completion/complete", **ask))
    ask = {"ref": {"type": "ref/prompt", "name": "recall_topic"}, "argument": {"name": "topic", "value": "quok"}}
    found["prompt completion"] = json.dumps(bridge.ask("completion/complete", **ask))
    for name, body in (("duplicate", "quokka rejectedtoken"), ("duplicate foreign", "quokka foreigntoken")):
        found[name] = bridge.remember(f"probe of {name}", body, dry_run=True)[0]
    return found


def test_e1_no_surface_tells_what_is_withheld_and_each_tells_what_is_not(
    world: Path, tmp_path: Path, closed_world: Path
) -> None:
    lay_out(world)
    folder = tmp_path / "repo"
    (folder / "src").mkdir(parents=True)
    for _ in ("first", "after a restart without derived files"):
        with Bridge(world, "alpha", folder) as bridge:
            found = surfaces(bridge, folder)
            assert "livetoken" in found["recall"] and "livetoken" in found["search"] and "live" in found["context"]
            for surface, text in found.items():
                leaked = [token for token in HIDDEN if token in text]
                assert leaked == [], (surface, text)
            for name, (_, include) in STATES.items():
                reply = bridge.recall(f"{name}token", include=[include])
                assert f"{name}token" in reply, include
                assert "foreigntoken" not in reply and "privatetoken" not in reply and "inboxtoken" not in reply
                assert re.search(r"SUPERSEDED|CANDIDATE|REJECTED|ARCHIVED|EXPIRED", reply)
        with Bridge(world, "beta", tmp_path / "other") as bridge:
            assert "foreigntoken" in bridge.recall("quokka")
        forget_derived(closed_world)


FILTERS = [
    ("vaultcore.memory.reach", "sees", "foreigntoken"),
    ("vaultcore.memory.selection", "state_of", "rejectedtoken"),
    ("vaultcore.memory.selection", "standing", "supersededtoken"),
    ("vaultcore.memory.store", "INBOX", "inboxtoken"),
]


@pytest.mark.parametrize(("module", "name", "token"), FILTERS)
def test_e1_without_its_filter_the_leak_is_seen(
    world: Path, module: str, name: str, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The mutation check: each filter taken out, the same question brings the withheld memory."""
    import importlib

    from vaultbridge.bridge import Bridge as InProcess
    from vaultbridge.tools import recall
    from vaultcore.identity import Caller

    lay_out(world)
    caller = Caller(project="alpha", projects=("alpha",), source="test")

    def ask() -> str:
        return recall.run(InProcess(str(world)), caller, {"query": "quokka", "limit": 50})

    assert token not in ask()
    mutant: Any = {
        "sees": lambda r, reader: True,
        "state_of": lambda *_: "current",
        "standing": lambda *_: ({}, set()),
        "INBOX": "_elsewhere",
    }[name]
    monkeypatch.setattr(importlib.import_module(module), name, mutant)
    assert token in ask()


# -- E2: a value that was ruled out stays out -------------------------------------------------------------------------

VALUE = "The staging database password rotates on Sundays."
ATTACKS = [
    VALUE,
    VALUE.upper(),
    VALUE.replace(" ", "  "),
    VALUE.rstrip("."),
    VALUE.replace("staging", "sta\u200bging"),
    VALUE.replace("staging", "\uff53taging"),
    f"“{VALUE}”",
    f"**{VALUE}**",
    f"As was said before. {VALUE} So it is.",
]


def test_e2_a_forgotten_value_meets_its_tombstone_on_every_way_in(
    world: Path, tmp_path: Path, closed_world: Path
) -> None:
    repo = tmp_path / "repo"
    with Bridge(world, "alpha", repo) as bridge:
        made = ident(bridge.remember("Rotation of the staging password", VALUE)[0])
        control = ident(bridge.remember("Rotation of the mail key", "The mail key rotates on Mondays.")[0])
    path = next((world / "memories").rglob("*staging*.md"))
    text = path.read_text(encoding="utf-8")
    code, shown = person(world, "forget", made, "--reason", "it was never true", "--yes")
    assert code == 0, shown
    assert not path.exists()
    stones = list((world / ".om" / "tombstones").glob("*.json"))
    assert len(stones) == 1 and VALUE not in stones[0].read_text(encoding="utf-8")
    for _ in ("first", "after derived files are gone"):
        with Bridge(world, "alpha", repo) as bridge:
            for attack in ATTACKS:
                reply, error = bridge.remember(f"Rotation again {len(attack)}", attack)
                assert error and "ruled" in reply and "om restore" in reply, attack
            reply, error = bridge.remember("Rotation of the mail key", "The mail key rotates on Mondays.")
            assert not error and control in reply
            hand = world / "memories" / "2026" / "03" / "by hand.md"
            hand.parent.mkdir(parents=True, exist_ok=True)
            hand.write_text(text.replace(made, "m-zzzzzzzzzzzz"), encoding="utf-8")
            assert "rotates on Sundays" not in bridge.recall("password rotates")
            assert "rotates on Mondays" in bridge.recall("mail key rotates")
            marked = bridge.recall("password rotates", include=["rejected"])
            assert "rotates on Sundays" in marked and "REJECTED" in marked
            note = world / "brain" / "Live.md"
            note.write_text(f"# Live\n\n- {VALUE} ^b1\n", encoding="utf-8")
            memory(world, "promoted", "a capture of the key", promoted="brain/Live#^b1")
            assert "rotates on Sundays" not in bridge.recall("capture of the key")
            hand.unlink()
        proposed = om(world, "remember", "Rotation by a hook", VALUE, "--propose", cwd=repo, OM_PROJECT="alpha")
        assert proposed.returncode == 1 and "ruled" in proposed.stderr
        forget_derived(closed_world)
    with Bridge(world, "beta", tmp_path / "other") as bridge:
        assert not bridge.remember("Rotation of the staging password", VALUE)[1], (
            "the same value elsewhere is another claim"
        )


def test_e2_one_record_for_one_value_and_a_person_can_lift_it(world: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    with Bridge(world, "alpha", repo) as bridge:
        made = ident(bridge.remember("Rotation of the staging password", VALUE)[0])
        assert person(world, "rule", made, "reject", "--reason", "wrong")[0] == 0
        assert VALUE not in bridge.recall()
        assert person(world, "rule", made, "reject", "--reason", "still wrong")[0] == 0
        assert len(list((world / ".om" / "tombstones").glob("*.json"))) == 1
        code, shown = person(world, "restore", made)
        assert code == 0 and "current again" in shown
        assert VALUE in bridge.recall()
    log = om(world, "log", "--memory", made)
    assert "reject" in log.stdout and "restore" in log.stdout and "person" in log.stdout


# -- E3: a status that withholds, reached by public verbs -------------------------------------------------------------


def test_e3_every_state_is_reached_by_a_verb_and_withheld_or_marked(
    world: Path, tmp_path: Path, closed_world: Path
) -> None:
    repo = tmp_path / "repo"
    with Bridge(world, "alpha", repo) as bridge:
        bridge.remember("Superseded one", "The first thing said about walruses.")
        bridge.remember("Its successor", "A better thing said about walruses.", supersedes=["Superseded one"])
        bridge.remember("The build host is Fern", "The build host is Fern.")
        bridge.remember("The build host is Moss", "The build host is Moss.")
        rejected = ident(bridge.remember("Rejected one", "A wrong thing about otters.")[0])
        archived = ident(bridge.remember("Archived one", "A stale thing about badgers.")[0])
    assert person(world, "rule", rejected, "reject", "--reason", "wrong")[0] == 0
    assert person(world, "archive", archived)[0] == 0
    assert (
        om(
            world, "remember", "Proposed one", "Something about lynxes.", "--propose", cwd=repo, OM_PROJECT="alpha"
        ).returncode
        == 0
    )
    memory(world, "Odd one", "Something about hares.", status="perhaps")
    for _ in ("first", "rebuilt"):
        with Bridge(world, "alpha", repo) as bridge:
            assert sorted(titles(bridge.recall())) == [
                "Its successor",
                "The build host is Fern",
                "The build host is Moss",
            ]
            reply = bridge.recall("build host")
            facets = [a for _, a, _ in FRAME.findall(reply) if "build host" in a]
            assert all("DISPUTED" in a for a in facets[:2]) and "Moss" in facets[0] and "Fern" in facets[1]
            for include, title in {
                "history": "Superseded one",
                "rejected": "Rejected one",
                "archived": "Archived one",
                "candidates": "Odd one",
            }.items():
                assert title in titles(bridge.recall(include=[include]))
        forget_derived(closed_world)
    waiting = json.loads(om(world, "review", "--json").stdout)
    assert {"conflict", "candidate", "inbox"} <= {item["kind"] for item in waiting}
    assert any("status 'perhaps' is unknown" in item["why"] for item in waiting)


# -- E4: when it was true, and when the vault knew --------------------------------------------------------------------


def test_e4_what_was_true_and_what_was_known_are_two_questions(world: Path, tmp_path: Path, closed_world: Path) -> None:
    repo = tmp_path / "repo"
    with Bridge(world, "alpha", repo) as bridge:
        before = time.time()
        time_passes()
        bridge.remember("Lease of the north hall", "The north hall is leased.", valid_from="2026-02-01")
        time_passes()
        between = time.time()
        time_passes()
        old = next((world / "memories").rglob("*north hall.md"))
        bridge.remember(
            "Lease of the north hall",
            "The north hall was leased until June.",
            valid_from="2026-02-01",
            valid_until="2026-06-01",
        )
    for _ in ("first", "rebuilt"):
        with Bridge(world, "alpha", repo) as bridge:

            def told(**asked: Any) -> list[str]:
                return [body.split("\n## ")[0].strip() for _, _, body in FRAME.findall(bridge.recall(**asked))]

            first, second = "The north hall is leased.", "The north hall was leased until June."
            assert told(as_of="2026-04-01") == [second]
            assert told(as_of="2026-07-01") == [] == told()
            assert told(as_of="2026-07-01", known_at=stamp(between)) == [first], "what we believed then"
            assert told(as_of="2026-04-01", known_at=stamp(before)) == []
            assert told(as_of="2026-01-31") == []
            # half open: the first moment counts, the last does not; a time zone moves the bound
            assert told(as_of="2026-02-01") == [second] and told(as_of="2026-06-01") == []
            assert told(as_of="2026-05-31T23:59:59") == [second]
            assert told(include=["expired"]) == [second]
        forget_derived(closed_world)
    text = old.read_text(encoding="utf-8")
    stamps = re.findall(r"(?:recorded_at|retired_at|valid_from): (.*)", text)
    old.write_text(text.replace("leased.", "leased, they say."), encoding="utf-8")
    with Bridge(world, "alpha", repo) as bridge:
        assert "they say" in bridge.recall(known_at=stamp(between), as_of="2026-04-01")
    assert re.findall(r"(?:recorded_at|retired_at|valid_from): (.*)", old.read_text(encoding="utf-8")) == stamps


@pytest.mark.parametrize(("zone", "counts"), [("UTC", True), ("Pacific/Kiritimati", True), ("Pacific/Pago_Pago", True)])
def test_e4_bounds_hold_in_every_time_zone(world: Path, tmp_path: Path, zone: str, counts: bool) -> None:
    memory(world, "lease", "The hall is leased.", valid_from="2026-02-01T00:00:00+02:00", valid_until="2026-06-01")
    with Bridge(world, "alpha", tmp_path / "repo", TZ=zone) as bridge:
        assert ("leased" in bridge.recall(as_of="2026-01-31T22:00:00Z")) is counts
        assert "leased" not in bridge.recall(as_of="2026-01-31T21:59:59Z")
        assert "The hall is leased" not in bridge.recall(as_of="2026-06-01")
        assert "leased" in bridge.recall(as_of="2026-05-31")


def time_passes() -> None:
    """Let the clock move past the last recorded stamp, which counts in milliseconds."""
    now = time.time()
    while time.time() - now < 0.005:
        pass


def stamp(seconds: float) -> str:
    from vaultcore.memory import times

    return times.stamp(seconds)


# -- E5: stored scope filters every read, and no caller widens it -----------------------------------------------------

REACHES: dict[str, dict[str, Any]] = {
    "general": {"scope": "general"},
    "alpha": {"projects": ("alpha",)},
    "beta": {"projects": ("beta",)},
    "both": {"projects": ("alpha", "beta")},
    "linux": {"scope": "platform", "projects": (), "platforms": ["linux"]},
    "linux and beta": {"scope": "platform", "projects": ("beta",), "platforms": ["linux"]},
}
SEEN = {
    ("alpha", "linux"): {"general", "alpha", "both", "linux", "linux and beta"},
    ("alpha", ""): {"general", "alpha", "both"},
    ("beta", ""): {"general", "beta", "both", "linux and beta"},
    ("gamma", ""): {"general"},
    ("", ""): {"general"},
    ("vault", ""): set(REACHES),
}


@pytest.fixture
def scoped(world: Path) -> Iterator[Path]:
    for name, reach in REACHES.items():
        memory(
            world,
            f"r {name.replace(' ', '-')}",
            f"wombat of {name}",
            title=f"reach {name}",
            paths=["src/a.py"],
            **reach,
        )
    yield world


@pytest.mark.parametrize(("caller", "expected"), SEEN.items())
def test_e5_each_caller_is_served_exactly_what_reaches_it(
    scoped: Path, tmp_path: Path, closed_world: Path, caller: tuple[str, str], expected: set[str]
) -> None:
    project, platform = caller
    folder = scoped if project == "vault" else tmp_path / (project or "nowhere")
    if project and project != "vault":
        known = {"projects": {project: {"platforms": [platform] if platform else []}}}
        (scoped / ".om").mkdir(exist_ok=True)
        folder.mkdir()
        if platform:
            assert (
                om(
                    scoped, "register", str(folder), "--as", project, "--platform", platform, "--agent", "claude"
                ).returncode
                == 0
            ), known
    if not project:
        folder = Path(os.sep)  # a folder that says nothing
    for _ in ("first", "rebuilt"):
        with Bridge(scoped, project if project not in ("", "vault") else None, folder) as bridge:
            assert {t.removeprefix("reach ") for t in titles(bridge.recall("wombat"))} == expected
            assert {t.removeprefix("reach ") for t in titles(bridge.recall())} == expected
            for name in REACHES:
                told, error = bridge.call("timeline", id=f"reach {name}")
                assert error == (name not in expected), told
                assert ("wombat of" in told) == (name in expected)
                superseding = bridge.remember(
                    "probe", "A probing text.", supersedes=[f"reach {name}"], dry_run=True, scope="general"
                )[0]
                assert ("unknown-memory" in superseding) == (name not in expected)
        forget_derived(closed_world)


@pytest.mark.parametrize(
    "widening",
    [
        {"scope": "general"},
        {"project": "beta"},
        {"projects": ["beta"]},
        {"caller": "beta"},
        {"include": ["everything"]},
        {"roots": ["/beta"]},
    ],
)
def test_e5_no_argument_of_a_read_widens_the_caller(scoped: Path, tmp_path: Path, widening: dict[str, Any]) -> None:
    with Bridge(scoped, "alpha", tmp_path / "repo") as bridge:
        for tool, given in (("recall", {}), ("timeline", {"id": "reach alpha"}), ("context", {"paths": ["src/a.py"]})):
            text, error = bridge.call(tool, **given, **widening)
            assert error and "wombat" not in text, (tool, text)
        assert "wombat of alpha" in bridge.recall()


def test_e5_counts_and_reasons_of_what_is_withheld_name_nothing(scoped: Path, tmp_path: Path) -> None:
    with Bridge(scoped, "gamma", tmp_path / "repo") as bridge:
        reply = bridge.recall("wombat", explain=True)
        assert "Withheld: 5 by scope" in reply
        assert not re.search("reach (alpha|beta|both|linux)|wombat of (alpha|beta)|r-alpha", reply)


# -- E6: an append-only record ----------------------------------------------------------------------------------------


def test_e6_every_verb_leaves_one_line_before_its_reply_and_verify_finds_the_first_bad_one(
    world: Path, tmp_path: Path, closed_world: Path
) -> None:
    repo = tmp_path / "repo"

    def lines() -> list[dict[str, Any]]:
        return [
            json.loads(raw)
            for path in (world / ".om" / "log").rglob("*.jsonl")
            for raw in path.read_text().splitlines()
        ]

    with Bridge(world, "alpha", repo) as bridge:
        first = ident(bridge.remember("A zebra fact", "Zebras have stripes in this vault.")[0])
        assert [line["op"] for line in lines()] == ["create"]
        bridge.remember("A better zebra fact", "Zebras have many stripes here.", supersedes=[first])
        assert [line["op"] for line in lines()] == ["create", "create"]
        bridge.remember("A bad one", "x", confidence="inferred", scope="platform")
        bridge.recall("zebra")
        assert [line["op"] for line in lines()] == ["create", "create", "refuse"]
        path = next((world / "memories").rglob("*A better zebra fact.md"))
        path.write_text(path.read_text("utf-8") + "\nBy hand.\n", encoding="utf-8")
        bridge.recall("zebra")
    assert [(line["op"], line["channel"]) for line in lines()[3:]] == [("external", "external")]
    assert lines()[3]["before"] == lines()[1]["after"]
    assert person(world, "forget", first, "--reason", "done", "--yes")[0] == 0
    assert [(line["op"], line["channel"]) for line in lines()[4:]] == [("forget", "person")]
    assert "stripes" not in json.dumps(lines())
    forget_derived(closed_world)
    assert "5 lines of 1 clone, every chain holds." in om(world, "log", "verify").stdout
    file = next((world / ".om" / "log").rglob("*.jsonl"))
    good = file.read_text().splitlines(keepends=True)
    for damaged, number in (
        ([*good[:1], *good[2:]], 2),
        ([good[0], good[1].replace("alpha", "omega"), *good[2:]], 2),
        ([good[1], good[0], *good[2:]], 1),
    ):
        file.write_text("".join(damaged))
        answer = om(world, "log", "verify")
        assert answer.returncode == 1 and f"line {number} " in answer.stderr
    file.write_text("".join(good))
    assert om(world, "log", "verify").returncode == 0


# -- E7: a person decides, and what is served follows -----------------------------------------------------------------


def conflict(world: Path, repo: Path) -> None:
    with Bridge(world, "alpha", repo) as bridge:
        bridge.remember("The build host is Fern", "The build host is Fern.")
        assert "contradict" in bridge.remember("The build host is Moss", "The build host is Moss.")[0]


def host(world: Path, repo: Path) -> dict[str, bool]:
    """Title -> disputed, as alpha is served."""
    with Bridge(world, "alpha", repo) as bridge:
        return {
            re.search('title="([^"]*)"', a)[1]: "DISPUTED" in a
            for _, a, _ in FRAME.findall(bridge.recall("build host"))
        }  # type: ignore[index]


VERDICTS = {
    "newer": {"The build host is Moss": False},
    "older": {"The build host is Fern": False},
    "both": {"The build host is Moss": False, "The build host is Fern": False},
    "neither": {},
}


@pytest.mark.parametrize(("verdict", "served"), VERDICTS.items())
def test_e7_a_persons_verdict_changes_what_is_served_and_stays(
    world: Path, tmp_path: Path, closed_world: Path, verdict: str, served: dict[str, bool]
) -> None:
    repo = tmp_path / "repo"
    conflict(world, repo)
    assert set(host(world, repo).values()) == {True}
    code, shown = person(world, "review", answers=(verdict,))
    assert code == 0, shown
    assert host(world, repo) == served
    assert json.loads(om(world, "review", "--json").stdout) == []
    # it survives moved files, edits elsewhere, a rebuild and a copy of the vault
    for path in list((world / "memories" / "2026").rglob("*.md")):
        path.rename(world / "memories" / path.name)
    (world / "brain" / "Live.md").write_text("# Live\n\nsomething else\n")
    forget_derived(closed_world)
    copy = Path(shutil.copytree(world, tmp_path / "copy"))
    assert host(world, repo) == served == host(copy, repo)
    assert json.loads(om(copy, "review", "--json").stdout) == []


def test_e7_a_tick_is_offered_and_applied_only_by_a_person(world: Path, tmp_path: Path) -> None:
    repo = tmp_path / "repo"
    conflict(world, repo)
    assert om(world, "review", "--list").returncode == 0
    page = world / "memories" / "Review.md"
    text = page.read_text(encoding="utf-8")
    page.write_text(text.replace("- [ ] newer", "- [x] newer"), encoding="utf-8")
    assert set(host(world, repo).values()) == {True}, "a tick alone decides nothing"
    code, shown = person(world, "review", answers=("",))
    assert code == 0 and "ticked in Review.md: newer" in shown
    assert host(world, repo) == {"The build host is Moss": False}
    assert "Nothing waits" in page.read_text(encoding="utf-8")


def hook(world: Path, name: str, **payload: Any) -> None:
    """One hook of the vault as Claude runs it."""
    ran = subprocess.run(
        [sys.executable, str(ROOT / "hooks" / f"{name}.py"), "--agent", "claude"],
        input=json.dumps({"session_id": "s1", "cwd": str(world), **payload}),
        capture_output=True, text=True, timeout=60, cwd=world,
    )  # fmt: skip
    assert ran.returncode == 0 and not ran.stderr, ran.stderr


def tick(world: Path, choice: str) -> None:
    page = world / "memories" / "Review.md"
    page.write_text(page.read_text("utf-8").replace(f"- [ ] {choice}", f"- [x] {choice}"), encoding="utf-8")


@pytest.mark.parametrize("seen_by", ["the open session", "the log", "the end of the session"])
def test_e7_a_tick_that_an_agent_made_is_unattested_and_not_applied(world: Path, tmp_path: Path, seen_by: str) -> None:
    repo = tmp_path / "repo"
    conflict(world, repo)
    hook(world, "session_start", hook_event_name="SessionStart", source="startup")
    tick(world, "newer")  # past the hook that refuses it, with a shell
    if seen_by == "the log":
        host(world, repo)  # the bridge looks at the page while the session is open
        shutil.rmtree(world / ".cache" / "session")
    if seen_by == "the end of the session":
        hook(world, "session_end", hook_event_name="SessionEnd", reason="exit")
        tick(world, "nothing of the kind")  # touched once more by a person
        os.utime(world / "memories" / "Review.md")
    code, shown = person(world, "review", answers=("",))
    assert code == 0 and "unattested, not taken: the session claude-s1 was open" in shown, shown
    assert set(host(world, repo).values()) == {True}, "both stand as before"
    (line,) = [x for x in log_lines(world) if x["op"] == "external"]
    assert line["path"] == "memories/Review.md" and line["session"] == "claude-s1" and line["before"] != line["after"]
    (item,) = json.loads(om(world, "review", "--json").stdout)
    assert (item["ticked"], item["attested"]) == ("newer", False)
    # the person answers in the terminal all the same
    assert person(world, "review", answers=("older",))[0] == 0
    assert host(world, repo) == {"The build host is Fern": False}


def test_e7_a_tick_after_the_agents_session_is_a_persons(world: Path, tmp_path: Path, closed_world: Path) -> None:
    repo = tmp_path / "repo"
    conflict(world, repo)
    hook(world, "session_start", hook_event_name="SessionStart", source="startup")
    hook(world, "stop", hook_event_name="Stop")
    hook(world, "session_end", hook_event_name="SessionEnd", reason="exit")
    tick(world, "newer")
    assert [i["attested"] for i in json.loads(om(world, "review", "--json").stdout)] == [True]
    hook(world, "session_start", hook_event_name="SessionStart", source="resume")
    forget_derived(closed_world)
    code, shown = person(world, "review", answers=("",))
    assert code == 0 and "ticked in Review.md: newer" in shown and "unattested" not in shown
    assert host(world, repo) == {"The build host is Moss": False}


def log_lines(world: Path) -> list[dict[str, Any]]:
    return [
        json.loads(raw) for path in (world / ".om" / "log").rglob("*.jsonl") for raw in path.read_text().splitlines()
    ]


def test_e7_changed_text_is_a_new_question(world: Path, tmp_path: Path) -> None:
    memory(world, "trusted", "Everything is fine.", scope="general", flags=["no-generality"])
    assert person(world, "review", answers=("trust",))[0] == 0
    assert json.loads(om(world, "review", "--json").stdout) == []
    path = next((world / "memories").rglob("trusted.md"))
    path.write_text(path.read_text("utf-8").replace("fine", "different"), encoding="utf-8")
    assert [i["kind"] for i in json.loads(om(world, "review", "--json").stdout)] == ["untrusted"]


@pytest.mark.parametrize(
    "words",
    [
        ("review",),
        ("rule", "x", "reject"),
        ("forget", "x", "--reason", "y"),
        ("restore", "x"),
        ("archive", "x"),
        ("promote", "x"),
        ("recall", "--project", "beta"),
    ],
)
def test_e7_without_a_terminal_no_verdict(world: Path, words: tuple[str, ...]) -> None:
    answer = om(world, *words)
    assert answer.returncode == 1 and "needs a terminal" in answer.stderr


def test_e7_a_terminal_inside_an_agents_session_is_no_person(world: Path) -> None:
    code, shown = person(world, "review", CLAUDECODE="1")
    assert code == 1 and "needs a terminal" in shown


def test_e7_no_tool_sets_a_verdict_and_no_argument_or_property_makes_a_person(world: Path, tmp_path: Path) -> None:
    with Bridge(world, "alpha", tmp_path / "repo", OM_CHANNEL="person") as bridge:
        tools = bridge.ask("tools/list")["result"]["tools"]
        writing = {t["name"] for t in tools if not t["annotations"]["readOnlyHint"]}
        assert writing <= {"remember", "record_work", "reason"}
        for given in (
            {"channel": "person"},
            {"status": "current"},
            {"source": "hand-filed"},
            {"rejected_by": "person"},
        ):
            assert bridge.remember("A claim", "About something.", **given)[1]
        bridge.remember("A claim", "About something.")
    lines = [
        json.loads(raw) for path in (world / ".om" / "log").rglob("*.jsonl") for raw in path.read_text().splitlines()
    ]
    assert {line["channel"] for line in lines} == {"agent"}
