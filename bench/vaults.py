"""Test vaults: N notes and M memories of made-up but lifelike text, the same for the same numbers.

Folders grow as a real vault's do (active work stays small, the archive does not), sizes are log-normal, links follow
a Zipf popularity with two percent leading nowhere, two percent of the notes are private, and file times follow the
notes' dates. With git the vault is a repository whose last commits are from the past 48 hours.
"""

from __future__ import annotations

import datetime
import json
import os
import random
import subprocess
from pathlib import Path

FOLDERS: dict[str, tuple[float, int | None]] = {  # folder: share of the notes, most it ever holds
    "work/active": (0.03, 45), "work/archive": (0.30, None), "work/1-1": (0.17, None), "work/incidents": (0.06, None),
    "work/meetings": (0.02, 60), "org/people": (0.07, None), "org/teams": (0.01, 40), "perf/brag": (0.01, 30),
    "perf/evidence": (0.06, None), "perf/competencies": (0.01, 25), "brain": (0.02, 60), "reference": (0.18, None),
    "thinking": (0.03, 80), "": (0.03, 90),
}  # fmt: skip
TAGS = {"work/active": "work-note", "work/archive": "work-note", "work/incidents": "incident", "work/1-1": "1-1",
        "org/people": "person", "org/teams": "team", "brain": "brain"}  # fmt: skip
PROJECTS = ("atlas", "borealis", "cinder", "delta-ui", "ember-api", "fjord", "granite", "harbor", "ion", "juniper")
PLATFORMS = ("ios", "web", "backend", "android", "cli")
TOPICS = {
    "billing retries": "invoice charge idempotency backoff dunning ledger refund webhook",
    "connection pool": "postgres pgbouncer timeout saturation transaction prepared idle socket",
    "push delivery": "apns token silent badge entitlement sandbox payload receipt",
    "release train": "changelog cut cherry-pick tag rollout staged hotfix freeze",
    "search ranking": "recall stemming synonym boost shard analyzer relevance snippet",
    "feature flags": "toggle cohort exposure kill-switch default cleanup targeting rollout",
    "image cache": "thumbnail eviction disk decode memory prefetch webp placeholder",
    "auth sessions": "cookie refresh rotation csrf oauth scope expiry logout",
    "data migration": "backfill batch cutover dual-write checksum rollback lock index",
    "build cache": "artifact hash invalidation remote incremental toolchain lockfile runner",
    "crash triage": "symbol stack regression signal breadcrumb cohort hang watchdog",
    "rate limiting": "bucket quota burst header retry-after tenant fairness throttle",
    "offline sync": "conflict merge queue replay clock vector tombstone delta",
    "schema evolution": "protobuf field optional deprecate compatibility registry version reader",
    "capacity planning": "forecast headroom autoscale node reserve cost peak quota",
}
COMMON = (
    "team change service request client server state value order time case path test config result error log note"
    " plan owner week quarter review call job user account record field table event source target step check cost"
    " limit window region host line branch version metric graph screen form input output key store worker thread"
    " process handler module contract"
).split()
VERBS = "breaks holds leaks blocks retries drops delays hides keeps reorders duplicates masks starves pins".split()
GLUE = ("because", "so", "when", "unless", "after", "before", "although", "while", "even if")
ADJECTIVES = "stale slow partial silent early noisy hidden shared local remote cold warm strict loose flaky".split()
ASPECTS = "rollout design cleanup audit follow-up runbook options baseline checklist handover guide".split()
FIRST = (
    "Ada Ben Cleo Dov Elin Femi Gita Hugo Ines Jon Kaya Liam Mara Nils Oona Pia Quinn Rosa Sven Tara Uma Vik".split()
)
LAST = "Abel Brandt Castro Dahl Ekdahl Fox Grant Holm Ito Jansen Koch Lund Meyer Novak Okafor Patel Quist Reyes".split()


class Writer:
    """Prose about a topic: its own words carry the meaning, common ones fill in."""

    def __init__(self, random_: random.Random) -> None:
        self.random = random_
        self.weights = [1 / (rank + 3) for rank in range(len(COMMON))]

    def noun(self, topic: str) -> str:
        r = self.random
        word = r.choice(TOPICS[topic].split()) if r.random() < 0.45 else r.choices(COMMON, self.weights)[0]
        return f"{r.choice(ADJECTIVES)} {word}" if r.random() < 0.3 else word

    def clause(self, topic: str) -> str:
        return f"the {self.noun(topic)} {self.random.choice(VERBS)} the {self.noun(topic)}"

    def sentence(self, topic: str) -> str:
        text = self.clause(topic)
        if self.random.random() < 0.6:
            text += f" {self.random.choice(GLUE)} {self.clause(topic)}"
        return text[0].upper() + text[1:] + "."

    def paragraph(self, topic: str, sentences: int) -> str:
        return " ".join(self.sentence(topic) for _ in range(sentences))


class Plan:
    """One note before its body is written, so that links can point anywhere."""

    def __init__(
        self, folder: str, sub: str, title: str, topic: str, day: datetime.date, private: bool, size: int
    ) -> None:
        self.folder, self.title, self.topic, self.day, self.private, self.size = (
            folder,
            title,
            topic,
            day,
            private,
            size,
        )
        self.rel = "/".join(part for part in (folder, sub, title + ".md") if part)


def make(path: str | os.PathLike[str], *, notes: int, memories: int = 0, seed: int = 7, git: bool = False) -> Path:
    """Write a vault of `notes` notes and `memories` memories to the new folder `path`; returns it."""
    root = Path(path)
    root.mkdir(parents=True)
    r = random.Random(f"{seed}/{notes}/{memories}")
    writer = Writer(r)
    today = datetime.date.today()
    plans = plan(r, notes, today)
    pool = [each.title for each in plans]
    r.shuffle(pool)
    weights = [1 / (rank + 2) ** 0.8 for rank in range(len(pool))]
    (root / "vault-manifest.json").write_text(manifest(), encoding="utf-8")
    for each in plans:
        links = r.choices(pool, weights, k=r.randint(3, 10))
        if r.random() < 0.1:
            links[0] = f"{r.choice(ADJECTIVES).title()} nowhere {r.randint(1, 9999)}"
        put(root, each.rel, body(r, writer, each, links), each.day)
    if "North Star" not in pool:
        star = "# North Star\n\n## Current Focus\n\n- Ship [[atlas]]\n- ~~Rewrite it~~\n- Answer within a day\n"
        put(root, "brain/North Star.md", head(today, "Goals and focus.", ["brain"]) + star, today)
    for number in range(memories):
        rel, text, day = memory(r, writer, number, today)
        put(root, rel, text, day)
    if git:
        history(root, [each.rel for each in plans], r)
    return root


def plan(r: random.Random, count: int, today: datetime.date) -> list[Plan]:
    sizes = {f: min(max(1, round(share * count)), most or count) for f, (share, most) in FOLDERS.items()}
    sizes["work/active"] = max(sizes["work/active"], min(len(PROJECTS) + 4, count))
    sizes["work/archive"] = max(1, sizes["work/archive"] + count - sum(sizes.values()))
    used: set[str] = set()
    people: list[str] = []
    plans = []
    for folder in sorted(sizes, key=lambda name: name != "org/people"):  # people first: 1:1 notes name them
        for index in range(sizes[folder]):
            topic = r.choice(list(TOPICS))
            age = int(min(1400, r.expovariate(1 / (12 if folder == "work/active" else 380))))
            day = today - datetime.timedelta(days=age)
            name, sub = topic.title(), ""
            if folder == "org/people":
                title = f"{r.choice(FIRST)} {r.choice(LAST)}"
            elif folder == "work/1-1":
                title = f"{r.choice(people)} {day.isoformat()}"
            elif folder == "":
                title = day.isoformat()
            elif folder == "work/meetings":
                title = f"{day.isoformat()} {name} sync"
            elif folder == "work/active" and index < len(PROJECTS):
                title = PROJECTS[index]
            else:
                title = f"{name} {r.choice(ASPECTS)} {r.choice(ADJECTIVES)} {r.choice(TOPICS[topic].split())}"
                if folder == "work/archive":
                    sub = str(day.year)
                elif folder in ("work/active", "reference") and r.random() < 0.45:
                    sub = name
            base, number = title, 2
            while title.lower() in used:
                title, number = f"{base} {number}", number + 1
            used.add(title.lower())
            if folder == "org/people":
                people.append(title)
            private = r.random() < 0.02 and title not in PROJECTS
            plans.append(
                Plan(folder, sub, title, topic, day, private, int(min(20_000, max(300, r.lognormvariate(7.7, 0.85)))))
            )
    return plans


def head(day: datetime.date, about: str, tags: list[str], more: list[str] | None = None) -> str:
    lines = [
        f"date: {day.isoformat()}",
        f"description: {json.dumps(about)}",
        *(more or []),
        "tags:",
        *(f"  - {t}" for t in tags),
    ]
    return "\n".join(["---", *lines, "---", "", ""])


def body(r: random.Random, writer: Writer, note: Plan, links: list[str]) -> str:
    more, tags = [], [TAGS.get(note.folder, "note")]
    if note.folder.startswith("work/"):
        more.append(f"status: {'completed' if note.folder == 'work/archive' or r.random() < 0.04 else 'active'}")
    if note.folder == "work/incidents":
        more.append("severity: high")
    if note.folder == "work/1-1":
        more.append(f"person: {json.dumps(note.title[:-11])}")
    if r.random() < 0.15:
        more.append(f"aliases: [{json.dumps(note.title + ' ' + r.choice(ASPECTS))}]")
    if note.private:
        tags.append("private")
    parts = [head(note.day, writer.sentence(note.topic)[:150], tags, more) + f"# {note.title}\n"]
    size, count = len(parts[0]), 0
    while size < note.size:
        kind = r.random()
        part = f"## {r.choice(ASPECTS).title()} {count}\n\n" if count % 3 == 0 else ""
        if kind < 0.6:
            part += writer.paragraph(note.topic, r.randint(2, 5)) + (
                f" See [[{links.pop()}]]." if len(links) > 2 else ""
            )
        elif kind < 0.9:
            part += "\n".join(f"- {writer.sentence(note.topic)}" for _ in range(r.randint(2, 6)))
        else:
            part += f"```sh\n{r.choice(TOPICS[note.topic].split())} --limit {r.randint(1, 99)}\n```"
        parts.append(part + "\n")
        size, count = size + len(part), count + 1
    if note.folder.startswith("work/") and r.random() < 0.7:
        tasks = [
            f"- [{'x' if r.random() < 0.6 else ' '}] {writer.sentence(note.topic)}" for _ in range(r.randint(1, 4))
        ]
        parts.append("## Action items\n\n" + "\n".join(tasks) + "\n")
    return "\n".join([*parts, "## Related\n", *(f"- [[{link}]]" for link in links), ""])


def memory(r: random.Random, writer: Writer, number: int, today: datetime.date) -> tuple[str, str, datetime.date]:
    """(path, text, day) of one memory; a few are general, some belong to a platform, most to a project."""
    topic, origin = r.choice(list(TOPICS)), r.choice(PROJECTS)
    day = today - datetime.timedelta(days=int(r.uniform(0, 540)))
    words = writer.clause(topic).removeprefix("the ")
    title = f"{words[0].upper()}{words[1:]} {r.choice(GLUE)} {writer.clause(topic)}"[:58].strip() + f" {number}"
    scope = r.choices(["general", "platform", "project"], [12, 18, 70])[0]
    more = [f"id: bench{number:06d}", "source: mcp-capture", f"origin: {origin}", f"scope: {scope}"]
    if scope == "project":
        more.append(f"projects: [{origin}]")
    if scope == "platform":
        more.append(f"platforms: [{r.choice(PLATFORMS)}]")
    more += [f"confidence: {r.choice(['verified', 'inferred'])}", f"recorded_at: {day.isoformat()}T10:00:00.000Z"]
    text = (
        head(day, writer.sentence(topic)[:150], ["memory"], more)
        + f"# {title}\n\n{writer.paragraph(topic, r.randint(3, 9))}\n"
    )
    return f"memories/{day:%Y/%m}/{day.isoformat()} {title}.md", text, day


def put(root: Path, rel: str, text: str, day: datetime.date) -> None:
    path = root / rel
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    moment = datetime.datetime(day.year, day.month, day.day, 0, 1).timestamp()
    os.utime(path, (moment, moment))


def manifest() -> str:
    """The keys that matter to a bench, as the shipped manifest has them."""
    exposed = ["brain", "reference", "work/active", "work/archive", "work/incidents", "work/1-1", "org", "perf"]
    required = {"*": {"date": "date", "description": "text", "tags": "list"}, "work-note": {"status": "text"}}
    return (
        json.dumps({"template": "om-vault", "mcp_exposed_roots": exposed, "frontmatter_required": required}, indent=2)
        + "\n"
    )


def history(root: Path, rels: list[str], r: random.Random) -> None:
    """One large commit, then a few small ones within the last 48 hours."""
    now = datetime.datetime.now()
    names = ("GIT_AUTHOR", "GIT_COMMITTER")
    who = {f"{n}_{key}": value for n in names for key, value in (("NAME", "Bench"), ("EMAIL", "bench@example.invalid"))}
    clean = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull}

    def git(*arguments: str, hours: float = 0) -> None:
        when = (now - datetime.timedelta(hours=hours)).isoformat()
        dated = {f"{name}_DATE": when for name in names}
        subprocess.run(
            ["git", "-C", str(root), *arguments],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, **who, **clean, **dated},
        )

    (root / ".gitignore").write_text(".cache/\nthinking/session-logs/\n", encoding="utf-8")
    git("init", "-q")
    git("add", "-A")
    git("commit", "-q", "-m", "Vault so far", hours=1500)
    for number in range(8):
        rel = r.choice(rels)
        with open(root / rel, "a", encoding="utf-8") as file:
            file.write(f"\nUpdate {number}: reviewed.\n")
        git("add", rel)
        git("commit", "-q", "-m", f"Update {Path(rel).stem}", hours=44 - 5 * number)


def titles(root: str | os.PathLike[str]) -> list[str]:
    """The titles of the vault's notes, in a stable order."""
    found = [
        path.stem for path in Path(root).rglob("*.md") if "memories" not in path.parts and ".cache" not in path.parts
    ]
    return sorted(found)


def words(seed: str, count: int) -> str:
    """`count` words of prose that no other seed gives."""
    r = random.Random(seed)
    writer = Writer(r)
    topic = r.choice(list(TOPICS))
    return " ".join(writer.paragraph(topic, count).split()[:count])
