"""Build the judged sets of `om bench search` from the documentation that Debian packages carry.

    apt-get download installation-guide-amd64 python3.11-doc git-doc; dpkg-deb -x … FOLDER
    python -m bench.judged FOLDER

Two kinds: a section is the answer to its own heading, which is taken out of the text (a question in the FAQ, a title in
the guide); and questions written here about the manual pages of git, with the pages that answer them. Licences of the
texts are kept in each file.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path

OUT = Path(__file__).parent / "data" / "search"
BLOCKS = {"p", "li", "dt", "dd", "tr", "pre", "div", "h1", "h2", "h3", "h4", "h5", "h6", "br", "table"}
VOID = {"br", "img", "hr", "link", "meta", "input", "col"}
SKIPPED = {"toc", "contents", "toctree-wrapper", "navheader", "navfooter", "sphinxsidebar", "related", "list-of-tables"}
NUMBER = re.compile(
    r"^(?:\S{0,3}\s?)?[A-G0-9]+(?:\.[0-9]+)*\.\s*|^(?:Chapter|Kapitel|Appendix|Anhang|第|부록)\s*\S+\s*"
)
GUIDE = (
    "Debian GNU/Linux Installation Guide, copyright 2004-2023 the Debian Installer team and other contributors; "
    "GNU GPL version 2. From the Debian package installation-guide-amd64 20230508+deb12u1."
)
PYTHON = (
    "Python 3.11 documentation, Frequently Asked Questions, copyright 2001-2023 Python Software Foundation; PSF "
    "License Agreement. From the Debian package python3.11-doc 3.11.2-6."
)
GIT = (
    "Git documentation, copyright 2005-2022 Linus Torvalds, Junio C Hamano and others; GNU GPL version 2. From the "
    "Debian package git-doc 1:2.39.5. Questions and judgements: this project."
)


class Sections(HTMLParser):
    """The text of a page, cut at its headings."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, str]] = []
        self.heading: list[str] | None = None
        self.text: list[str] = []
        self.title = ""
        self.skip = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        style = (dict(attrs).get("class") or "").split()
        # A table of contents holds every heading: it would be the best answer to all of them.
        if self.skip or tag in ("script", "style", "head") or SKIPPED.intersection(style):
            self.skip += tag not in VOID
        elif re.fullmatch("h[1-6]", tag):
            self.close_section()
            self.heading = []
        elif tag in BLOCKS:
            self.text.append("\n\n" if tag in ("p", "pre", "table", "li") else "\n")

    def handle_endtag(self, tag: str) -> None:
        if self.skip:
            self.skip -= tag not in VOID
        elif re.fullmatch("h[1-6]", tag) and self.heading is not None:
            self.title = " ".join("".join(self.heading).replace("¶", "").split())
            self.heading = None

    def handle_data(self, data: str) -> None:
        if not self.skip:
            (self.text if self.heading is None else self.heading).append(data)

    def close_section(self) -> None:
        text = re.sub(r"[ \t]+", " ", "".join(self.text))
        text = re.sub(r"\s*\n\s*\n\s*", "\n\n", text).strip()
        if self.title and text:
            self.found.append((self.title, text))
        self.text, self.title = [], ""


def sections(pages: list[Path], least: int) -> list[tuple[str, str, str]]:
    """(page, heading, text) of each section of at least `least` characters; a heading that comes twice is left out."""
    found = []
    for page in pages:
        parser = Sections()
        parser.feed(page.read_text(encoding="utf-8"))
        parser.close_section()
        found += [(page.stem, NUMBER.sub("", heading).strip(), text) for heading, text in parser.found]
    seen = [heading for _, heading, _ in found]
    return [s for s in found if len(s[2]) >= least and len(s[1]) > 1 and seen.count(s[1]) == 1]


def headings(name: str, language: str, licence: str, pages: list[Path], least: int = 120) -> None:
    cut = sections(pages, least)
    notes = [(f"{page}/{number:03}.md", text) for number, (page, _, text) in enumerate(cut)]
    queries = [(heading, [notes[i][0]]) for i, (_, heading, _) in enumerate(cut)]
    save(name, language, licence, notes, queries)


def questions(folder: Path) -> None:
    notes = []
    for page in sorted(folder.glob("git*.txt")):
        text = page.read_text(encoding="utf-8")
        whole = re.sub(r"(?m)^include::(.*?)\[\]$", lambda m: included(folder / m[1]), text)
        text = re.sub(r"(?m)^(?:include::.*|ifdef::.*|endif::.*|ifndef::.*|\[\[.*\]\])\n", "", whole)
        if len(text) > 400:
            notes.append((f"git/{page.stem}.md", text[:30_000]))
    known = {rel for rel, _ in notes}
    asked = json.loads((OUT / "git-questions.json").read_text(encoding="utf-8"))
    queries = [(question, [f"git/{page}.md" for page in pages]) for question, pages in asked]
    missing = {rel for _, rels in queries for rel in rels} - known
    if missing:
        raise SystemExit(f"no such pages: {sorted(missing)}")
    save("git", "en", GIT, notes, queries)


def included(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.is_file() else ""


def save(
    name: str, language: str, licence: str, notes: list[tuple[str, str]], queries: list[tuple[str, list[str]]]
) -> None:
    data = {"name": name, "language": language, "licence": licence, "notes": notes, "queries": queries}
    raw = json.dumps(data, ensure_ascii=False, indent=0).encode()
    (OUT / f"{name}.json.gz").write_bytes(gzip.compress(raw, 9, mtime=0))
    print(f"{name}: {len(notes)} notes, {len(queries)} queries, {sum(len(t) for _, t in notes):,} characters")


def main(folder: Path) -> None:
    docs = folder / "usr/share/doc"
    headings("faq", "en", PYTHON, sorted((docs / "python3.11/html/faq").glob("*.html")))
    for language in ("de", "ja", "ko", "zh_CN"):
        pages = [
            p for p in sorted((docs / "installation-guide-amd64" / language).glob("*.html")) if "apf" not in p.stem
        ]
        headings(f"guide-{language.partition('_')[0]}", language, GUIDE, pages)
    questions(docs / "git-doc")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
