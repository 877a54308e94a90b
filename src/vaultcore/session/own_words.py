"""The part of a prompt that the person wrote: no fenced code, traces, logs, quotes, URLs, paths or identifiers.

Written with string methods only. A pasted megabyte costs as much as a page: the head and the tail are looked at.
"""

from __future__ import annotations

HEAD, TAIL = 60_000, 20_000  # characters looked at from either end of a long prompt
ENOUGH = 3_000  # characters of own words that are kept
LEVELS = {"trace", "debug", "info", "notice", "warn", "warning", "error", "err", "fatal", "critical", "severe", "panic"}
TRACE_STARTS = (
    "traceback (",
    'file "',
    "caused by:",
    "during handling of",
    "... ",
    "thread '",
    "goroutine ",
    "#0 ",
    "panic:",
)
CODE_WORDS = (
    "import ", "from ", "def ", "class ", "return ", "const ", "let ", "var ", "function ", "raise ", "throw ",
    "async ", "public ", "private ", "static ", "select ", "insert into ", "elif ", "else:", "try:", "except ",
)  # fmt: skip
CODE_SIGNS = ("#include", "diff --git", "@@ ", "+++ ", "--- ", "$ ", ">>>", "<?", "//", "/*", "* @", "npm err")
CODE_MARKS = (" = ", "==", "()", "){", "=>", " import ", "({", "[]")
CODE_ENDS = (";", "{", "}", "};", "});", "):", "->", "=>", "\\")


def own_words(prompt: str) -> str:
    """Lower-cased words of the person, one line per line of text, blanks collapsed, at most ENOUGH characters."""
    if len(prompt) > HEAD + TAIL:
        prompt = prompt[:HEAD] + "\n" + prompt[-TAIL:]
    kept: list[str] = []
    size = 0
    fence = ""
    trace = False
    for line in prompt.replace("\r", "\n").split("\n"):
        stripped = line.strip()
        if fence:
            fence = "" if stripped.startswith(fence) and not stripped.strip(fence[0]) else fence
            continue
        if stripped.startswith(("```", "~~~")):
            run = len(stripped) - len(stripped.lstrip(stripped[0]))
            if "`" not in stripped[run:] or stripped[0] == "~":
                fence = stripped[0] * run
                continue
        low = stripped.lower()
        if trace:
            # a trace goes on through indented lines and ends with the line that names the error
            trace = bool(stripped) and line[:1] in (" ", "\t")
            continue
        if low.startswith(TRACE_STARTS):
            trace = low.startswith("traceback")
            continue
        if not stripped or pasted(line, low):
            continue
        words = clean(low)
        if words:
            kept.append(words)
            size += len(words)
            if size > ENOUGH:
                break
    return "\n".join(kept)[:ENOUGH]


def pasted(line: str, low: str) -> bool:
    """True for a line that a program wrote: code, a log record, a stack frame, a quotation."""
    if low.startswith(">") or low.startswith(("at ", "in ")) and "(" in low and ("line" in low or ":" in low):
        return True
    if line.startswith(("    ", "\t")) and low.endswith(CODE_ENDS):
        return True
    if low.startswith(CODE_SIGNS):
        return True
    if low.startswith(CODE_WORDS) and (low.endswith(CODE_ENDS) or any(mark in low for mark in CODE_MARKS)):
        return True
    if low.endswith(CODE_ENDS) and any(c in low for c in "=(){}"):
        return True
    return is_log(low)


def is_log(low: str) -> bool:
    """A time stamp or a level in front, as loggers write it. A date in a sentence is not one."""
    first, _, rest = low.partition(" ")
    stamp = first.strip("[]()|")
    digits = sum(c.isdigit() for c in stamp)
    if digits >= 8 and stamp[:4].isdigit() and ("t" in stamp or ":" in stamp):
        return True
    if digits >= 8 and stamp[:4].isdigit() and rest[:2].isdigit() and rest[2:3] == ":" and rest[5:6] == ":":
        return True
    if digits >= 6 and stamp[2:3] == ":" and stamp[5:6] == ":":  # 12:30:01.123 worker …
        return True
    words = low.replace("[", " ").replace("]", " ").replace(":", " ").replace("|", " ").split(None, 4)[:4]
    head = words[0] if words else ""
    return head in LEVELS and (low[0] == "[" or head + ":" in low[:12] or digits > 0)


def clean(low: str) -> str:
    """Drop the words of a line that are code, an address or a path, and unify quotes and widths."""
    if not low.isascii():
        from unicodedata import normalize

        low = (
            normalize("NFKC", low)
            .replace("\u2019", "'")
            .replace("\u2018", "'")
            .replace("\u2010", "-")
            .replace("\u2011", "-")
        )
        low = low.replace("\u2013", "-").replace("\u2014", " - ").replace("\u00a1", " ").replace("\u00bf", " ")
    if "`" in low:
        low = _without_code(low)
    return " ".join([word for word in low.split() if not is_code(word)])


def _without_code(low: str) -> str:
    """Blank out what stands between equal runs of backticks."""
    out, at = [], 0
    for _ in range(50):
        start = low.find("`", at)
        if start < 0:
            break
        run = len(low[start : start + 100]) - len(low[start : start + 100].lstrip("`"))
        end = low.find("`" * run, start + run)
        if end < 0:
            out.append(low[at:start])
            at = start + run
            continue
        out.append(low[at:start])
        at = end + run
    return " ".join([*out, low[at:].replace("`", " ")])


def is_code(word: str) -> bool:
    """True for a URL, a path, an identifier or a call."""
    if len(word) > 200 or "://" in word or word.startswith(("www.", "./", "../", "~/", "/", "@", "--", "$")):
        return True
    core = word.strip(".,;:!?()[]\"'")
    if not core.isascii():
        return False
    if "_" in core or "::" in core or "->" in core or "=>" in core or "()" in word or "\\" in core:
        return True
    if core.count("/") > 1 or "=" in core or "{" in core or "<" in core and ">" in core:
        return True
    stem, dot, extension = core.rpartition(".")
    if dot and stem and 1 < len(extension) <= 5 and extension.isalnum() and not extension.isdigit():
        return "/" in stem or stem[-1:].isalnum()
    return False
