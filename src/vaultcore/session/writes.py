"""After a write: check each note that was written, remember it, and say what is wrong in one short message."""

from __future__ import annotations

import os

from vaultcore.session import note_checks, state
from vaultcore.session.plain import flat

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.agents import Event
    from vaultcore.session.note_checks import Finding
    from vaultcore.session.settings import Settings

NOTES = 8  # notes of one call that are checked
FINDINGS = 6  # findings of one note that are named
LONGEST = 2_500  # characters of the message


def touched(event: Event) -> list[tuple[str, str]]:
    """(path in the vault, action) for every file of this tool call that lies in the vault, once each."""
    found: dict[str, str] = {}
    base = event.root + os.sep
    for write in event.writes():
        path = write.path.replace("\\", "/") if os.name == "nt" else write.path
        folder, name = os.path.split(path)
        real = os.path.join(os.path.realpath(folder), name)  # the note itself may be a link: it stays what it is
        if real.startswith(base):
            found[os.path.relpath(real, event.root).replace(os.sep, "/")] = write.action
    return list(found.items())


def report(event: Event, settings: Settings, files: list[tuple[str, str]]) -> str:
    """Check the notes among `files` (from `touched`) and return the message, "" when all is well."""
    from vaultcore.session.census import Names

    agent = event.agent_name
    session = state.Session(event.root, agent, event.session)
    names = Names(event.root)
    parts = []
    for rel, action in files[:NOTES]:
        if action == "delete" or not note_checks.applies(rel, settings):
            continue
        findings = note_checks.check(event.root, rel, settings, names)
        remember(session, event.root, rel, findings)
        news = [finding for finding in new(session, rel, findings) if finding.code != "place"]
        lines = [f"- {finding.sentence()}" for finding in news[:FINDINGS]]
        if len(news) > FINDINGS:
            lines.append(f"- and {len(news) - FINDINGS} more")
        lines += grouping(session, event.root, rel, settings)
        if lines:
            parts.append("\n".join([f"{flat(rel, 160)}:", *lines]))
    if not parts:
        return ""
    more = f"\n({len(files) - NOTES} more files of this call were not checked)" if len(files) > NOTES else ""
    text = "om checked what was just written\n" + "\n".join(parts)
    return (text if len(text) <= LONGEST else text[: LONGEST - 1] + "…") + more


def remember(session: state.Session, root: str, rel: str, findings: list[Finding]) -> None:
    """Note what is wrong with a note as it is now, so that the stop hook need not read it again."""
    try:
        status = os.stat(os.path.join(root, rel))
    except OSError:
        return
    found = [[finding.code, finding.sentence()] for finding in findings[: FINDINGS + 2]]
    session.add(wrote=rel, size=status.st_size, mtime=status.st_mtime_ns, found=found)


def new(session: state.Session, rel: str, findings: list[Finding]) -> list[Finding]:
    """A size, and that something cannot be checked here, are news once per session; all else as long as it lasts."""
    said = session.said()
    kept = []
    for finding in findings:
        key = {"oversized": f"oversized {rel}", "unchecked": "unchecked"}.get(finding.code)
        if key is None or key not in said:
            kept.append(finding)
        if key is not None and key not in said:
            session.add(said=[key])
    return kept


def grouping(session: state.Session, root: str, rel: str, settings: Settings) -> list[str]:
    """A subject that several loose notes share, said once per session."""
    found = note_checks.cluster(root, rel, settings)
    if found is None:
        return []
    word, members = found
    key = f"cluster {word}"
    if key in session.said():
        return []
    session.add(said=[key])
    shown = ", ".join(flat(name[:-3], 50) for name in members[:4])
    subject = flat(word, 30)
    folder = f"work/active/{subject.title()}/"
    return [f"- {len(members)} loose notes in work/active are about {subject} ({shown}): consider {folder}"]
