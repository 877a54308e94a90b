"""What must never be written down: keys, tokens, credentials in addresses. A rule is named, its match never."""

from __future__ import annotations

import re

RULES: tuple[tuple[str, str], ...] = (
    ("pem-private-key", r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----"),
    (
        "credential-url",
        r"\b[a-zA-Z][a-zA-Z0-9+.-]{1,20}://[^\s/:@<>{}$\"']{1,128}:(?!\*+@|<|\$|"
        r"\{|xxx|password@|pass@)[^\s/@<>{}$\"']{3,256}@[\w.-]+",
    ),
    ("openai-key", r"\bsk-(?:proj-|svcacct-|ant-|or-)?[A-Za-z0-9_-]{20,}"),
    ("aws-access-key", r"\b(?:AKIA|ASIA|AROA)[A-Z0-9]{16}\b"),
    ("github-token", r"\b(?:gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,})"),
    ("gitlab-token", r"\bgl(?:pat|dt|rt|ft|cbt)-[A-Za-z0-9_-]{20,}"),
    (
        "slack-token",
        r"\bxox[abprse]-[A-Za-z0-9-]{10,}|hooks\.slack\.com/services/T[A-Z0-9]+/B[A-Z0-9]+/[A-Za-z0-9]{16,}",
    ),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}"),
    ("stripe-key", r"\b[rs]k_live_[A-Za-z0-9]{16,}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{36}"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{50,}"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"),
    (
        "bearer-token",
        r"(?i)\bauthorization\s*[:=]\s*[\"']?(?:bearer|basic|token)\s+(?!<|\$|\{)[A-Za-z0-9._~+/=-]{16,}",
    ),
    (
        "named-secret",
        r"(?i)(?<![A-Za-z])(?:pass(?:word|wd|phrase)|passwort|secret|api[_-]?key|access[_-]?key|"
        r"auth[_-]?token|client[_-]?secret)"
        r"[\"']?\s*[:=]\s*[\"']?(?=[^\s\"'`]*[0-9])(?=[^\s\"'`]*[A-Za-z])[^\s\"'`<>${}()]{8,}",
    ),
)
# one cheap look decides for nearly every text that no rule can match
_HINT = re.compile(
    r"-----BEGIN|://|sk-|A(?:KIA|SIA|ROA|Iza)|gh[pousr]_|github_pat|gl[a-z]{2,3}-|xox|slack\.com|k_live_|npm_|"
    r"pypi-|eyJ|"
    r"(?i:authorization|pass|secret|key|token)"
)


_UNSEEN = re.compile("[\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff]")


def find(text: str) -> str | None:
    """The name of the first rule that matches, or None. Characters that nobody sees and wide letters hide nothing."""
    if not text.isascii():
        from unicodedata import normalize

        text = f"{text}\n{_UNSEEN.sub('', normalize('NFKC', text))}"
    if not _HINT.search(text):
        return None
    for name, pattern in RULES:
        if re.search(pattern, text):
            return name
    return None


def hidden(text: str) -> str:
    """`text` as a log may hold it: the name of the rule in its place when it holds a secret."""
    rule = find(text)
    return text if rule is None else f"[{rule}, {len(text)} characters]"
