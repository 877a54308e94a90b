"""Names that are spelled alike: trigrams from the index, likeness by shared pieces."""

from __future__ import annotations

from vaultcore import text

TYPE_CHECKING = False
if TYPE_CHECKING:
    from .catalogue import Index

LEAST = 0.4  # shared share of trigrams below which two names are no near miss


def similar(index: Index, name: str, limit: int) -> list[str]:
    """Notes with a title, file name, alias or id spelled much like `name`, best first."""
    key = text.key(text.clean(name[:200])).rsplit("/", 1)[-1].replace('"', " ")
    key = key[:-3] if key.endswith(".md") else key
    wanted = _pieces(key)
    if not wanted or not index._store.trigrams:
        return index.resolver().nearest(name, limit)
    expression = " OR ".join(f'"{piece}"' for piece in sorted(wanted))
    query = (
        "select t.key, n.rel from (select key, note, rank r from tri where tri match ? order by rank limit 80) t"
        " join notes n on n.id=t.note where n.gone=0"
    )
    scores: dict[str, float] = {}
    for other, rel in index.ask(lambda c: c.execute(query, (expression,)).fetchall()):
        pieces = _pieces(other)
        score = len(wanted & pieces) / len(wanted | pieces)
        if score >= LEAST and score > scores.get(rel, 0):
            scores[rel] = score
    return sorted(scores, key=lambda rel: (-scores[rel], len(rel), rel))[:limit]


def _pieces(key: str) -> set[str]:
    return {key[i : i + 3] for i in range(len(key) - 2)}
