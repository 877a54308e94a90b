"""Normal forms of text: what counts as the same words, the same title, the same value, in any script."""

from __future__ import annotations

import re

SPACED_OUT = (  # scripts written without spaces between words, and Hangul, whose particles cling to words
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf"
    "\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff\U00020000-\U0003ffff"
)
# patterns over those ranges take long to compile, so texts without them, which are most, do without
_RUN = "[" + SPACED_OUT + "]+|[^\\W_" + SPACED_OUT + "]+(?:[._/+#-]*[^\\W_" + SPACED_OUT + "]+)*[+#]*"
_PLAIN_RUN = re.compile(r"[^\W_]+(?:[._/+#-]*[^\W_]+)*[+#]*")
_DENSE = "[" + SPACED_OUT + "]"
_SPACE = re.compile(r"\s+")
_DASH = re.compile("[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]")
_QUOTE = re.compile("[\"'`\u00b4\u2018-\u201f\u2039\u203a\u00ab\u00bb\u300c-\u300f]")
_MARKS = re.compile(r"[*_~]{1,3}|^[>#\-+\s]+", re.M)
_END = r"[\s.,;:!?\u3002\uff01\uff1f\uff0e\u2026\u00a1\u00bf]"
_TAIL = re.compile(f"(?<!{_END}){_END}+$")  # a run is tried once, not from each of its characters

STOP = frozenset(
    "a an and are as at be been by for from has have if in into is it its of on or our so than that the their "
    "then there "
    "these this those to was we were when which with you your do does did will would should must can could "
    "der die das den dem des ein eine einen einem einer und oder ist sind im in von zu zum zur mit auf bei "
    "le la les un une des du de et ou est sont dans pour sur avec el los las una y o es son en para con por "
    "il lo gli di e sono per da".split()
)


def fold(text: str) -> str:
    """NFKC, case folded, invisible characters dropped, dashes made one, blanks collapsed."""
    if text.isascii():
        return _SPACE.sub(" ", text.lower()).strip()
    import unicodedata

    text = unicodedata.normalize("NFKC", text).casefold()
    text = _UNSEEN.sub("", text)
    if not text.isprintable():
        text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cs"))
    # casefolding can undo NFKC (Greek iota, some ligatures): once more settles it
    return _SPACE.sub(" ", _DASH.sub("-", unicodedata.normalize("NFKC", text))).strip()


_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def value(text: str) -> str:
    """The form under which a value is recognised again, whatever its case, width, quotes, marks or final dot."""
    before = None
    while text != before:  # what a mark leaves behind may be a tail again
        before = text
        text = _SPACE.sub(" ", _MARKS.sub(" ", _QUOTE.sub("", fold_lines(text)))).strip()
        text = _TAIL.sub("", text)
    return text


def fold_lines(text: str) -> str:
    return "\n".join(fold(line) for line in text.split("\n"))


def title(text: str) -> str:
    """The form under which two titles are one and the same."""
    return fold(text)


def words(text: str, keep_stops: bool = False) -> list[str]:
    """The words of `text`, folded: runs of letters and digits with their inner dots and dashes, plurals folded;
    overlapping pairs of characters where a script has no spaces."""
    found: list[str] = []
    for run in _runs(fold(text)):
        if starts_dense(run):
            found.extend([run] if len(run) == 1 else [run[i : i + 2] for i in range(len(run) - 1)])
        elif keep_stops or run not in STOP:
            found.append(singular(run))
    return found


def _runs(form: str) -> list[str]:
    return _PLAIN_RUN.findall(form) if form.isascii() else re.findall(_RUN, form)


def starts_dense(text: str) -> bool:
    """Whether `text` starts with a character of a script without spaces between words."""
    return not text[:1].isascii() and re.match(_DENSE, text) is not None


def holds_dense(text: str) -> bool:
    """Whether `text` holds a character of such a script."""
    return not text.isascii() and re.search(_DENSE, text) is not None


def plain_words(text: str) -> list[str]:
    """Every word in order, unfolded plurals and stop words kept: for rules about the order of words."""
    return [_TAIL.sub("", w) or w for w in _SPACE.split(text.strip()) if w]


def singular(word: str) -> str:
    """An English plural folded onto its singular; anything else as it is."""
    if len(word) < 4 or not word.endswith("s") or not word.isascii() or word[-2] in "sui":
        return word
    if word.endswith("ies"):
        return word[:-3] + "y" if len(word) > 4 else word
    if word.endswith(("ches", "shes", "xes", "sses", "zes")):
        return word[:-2]
    # https is not http: a stem needs a vowel and may not end in p or s
    stem = word[:-1]
    return stem if any(c in "aeiouy" for c in stem) else word


_WORDS = (
    "updated update updates new newer newest revised revision final latest corrected correction fixed copy again "
    "current amended "
    "neu neue neuer neues aktualisiert aktualisierung überarbeitet korrigiert korrektur endgültig aktuell kopie "
    "nouveau nouvelle mis mise à jour révisé corrigé définitif "
    "nuevo nueva actualizado actualizada revisado corregido novo nova atualizado atualizada nuovo nuova "
    "aggiornato aggiornata "
    "nieuw bijgewerkt ny uppdaterad nowy nowa zaktualizowany "
    "новый новая новое обновлено обновление исправлено исправление"
)
_DENSE_WORDS = "更新版?|最新版?|新版?|改訂版?|修正版?|追記|修订版?|更正|업데이트|신규|수정|최신|새로운"
_SUFFIX = re.compile(
    r"(?:^|[\s\-(\[{,:;/#|])(?:"
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{4}年\d{1,2}月\d{1,2}日?|\d{8}|\d{1,2}[./]\d{1,2}[./]\d{4}|"
    r"v(?:er(?:sion)?)?\.? ?\d[\d.]*|rev(?:ision)?\.? ?\d+|(?:part|no|nr|nº|#) ?\.?\d+|[(\[#]\d{1,3}|- ?\d{1,3}|"
    + "|".join(re.escape(w) for w in sorted(set(_WORDS.split()), key=len, reverse=True))
    + r")[\s)\]}.!]*$|[\s\-(\[]*(?:"
    + _DENSE_WORDS
    + r")[\s)\]]*$"
)
_PREFIX = re.compile(
    r"^[(\[{]?(?:"
    + "|".join(re.escape(w) for w in sorted(set(_WORDS.split()), key=len, reverse=True))
    + r"|"
    + _DENSE_WORDS
    + r")(?:[)\]}]|:|：| -)\s*"
)
_COUNT = re.compile(r"\s\d{1,3}$")


def trimmed(text: str) -> str:
    """The folded title without punctuation at its end."""
    return _TAIL.sub("", fold(text)).strip(" -:,;")


def bare_title(text: str) -> str:
    """The title without what people add to say the same thing again: dates, versions, counters, "new", "updated"."""
    form = fold(text)
    while True:
        shorter = _PREFIX.sub("", _SUFFIX.sub("", _TAIL.sub("", form))).strip(" -:,;")
        if not shorter or shorter == form:
            return form
        form = shorter


def uncounted(form: str) -> str:
    """A bare title without a plain number at its end, which may be a counter or may be meant."""
    return _COUNT.sub("", form)


def letters(text: str) -> str:
    """Only the letters and digits of the folded text."""
    return "".join(_runs(fold(text))).replace("-", "").replace(".", "").replace("/", "").replace("_", "")
