"""Records that say the same already, among those that the writer may see."""

from __future__ import annotations

from vaultcore import exposure
from vaultcore.memory import forms, record, similarity

from .draft import RECORD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from vaultcore.exposure import Policy
    from vaultcore.index import Index
    from vaultcore.manifest import Manifest

    from .draft import Draft

MOST = 40  # records that are read and compared
_OURS = ("\n## Related\n", "\n*Recorded ")


class Twin:
    """A record that is as good as the new one: `score` from 0 to 1, `same` for the very same text."""

    __slots__ = ("rel", "same", "score", "title")

    def __init__(self, rel: str, title: str, score: float, same: bool) -> None:
        self.rel, self.title, self.score, self.same = rel, title, score, same


def nearest(
    manifest: Manifest, policy: Policy, index: Index, made: Draft, project: str, description: str
) -> list[Twin]:
    """The records of `project` ("" unknown) too near to `made`, nearest first. What the writer may not read does not
    exist for it; what another project did is another piece of work."""
    new = _text("new.md", made.title, made.text())
    wanted: list[tuple[float, str, str]] = []
    for rel, title, described in _listed(index, project):
        share = similarity.jaccard(new.title_words, frozenset(forms.words(forms.bare_title(title), keep_stops=True)))
        share = max(share, similarity.jaccard(new.title_words, frozenset(forms.words(forms.bare_title(title)))))
        if described == description or forms.title(title) == new.title:
            share = 1.0
        if share >= 0.4:
            wanted.append((share, rel, title))
    found: list[Twin] = []
    for _, rel, title in sorted(wanted, reverse=True)[:MOST]:
        if not exposure.readable(manifest, policy, rel).ok:
            continue
        body = _said(manifest.root, rel)
        if body is None:
            continue
        held = _text(rel, title, body)
        score, _ = similarity.compare(new, held)
        if score >= similarity.DUPLICATE:
            found.append(Twin(rel, title, score, similarity.same(new, held)))
    found.sort(key=lambda twin: (not twin.same, -twin.score, twin.rel))
    return found


def _listed(index: Index, project: str) -> list[tuple[str, str, str]]:
    import json

    query = (
        "select n.rel, n.title, n.description, n.properties from tags t join notes n on n.id=t.note"
        " where t.tag=? and n.kind='note' and n.gone=0 and n.private is null order by n.rel"
    )
    rows = index.ask(lambda c: c.execute(query, (RECORD,)).fetchall())
    found = []
    for rel, title, described, properties in rows:
        if record.name(str(json.loads(properties).get("project") or "")) == project:
            found.append((str(rel), str(title), str(described or "")))
    return found


def _said(root: str, rel: str) -> str | None:
    """What a record says, in the form in which a draft says it; None when it cannot be read."""
    from vaultcore import notes
    from vaultcore.errors import VaultError

    try:
        text = notes.read(root, rel).body
    except VaultError:
        return None
    for mark in _OURS:
        text = text.split(mark)[0]
    lines = []
    for line in text.split("\n"):
        shown = line.strip()
        if shown.startswith("#"):
            continue
        lines.append(
            shown[6:] if shown.startswith(("- [ ] ", "- [x] ")) else shown[2:] if shown.startswith("- ") else line
        )
    return "\n".join(line for line in lines if line.strip())


def _text(rel: str, title: str, body: str) -> similarity.Text:
    made = record.build(f"memories/{rel.rsplit('/', 1)[-1]}", {"scope": "general"}, f"# {title}\n\n{body}\n", 0, 0)
    assert made is not None
    return similarity.Text(made)
