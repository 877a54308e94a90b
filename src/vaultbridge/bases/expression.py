"""The expressions of `.base` files: a small grammar close to JavaScript's, read but never run.

`names(text)` parses one expression and returns what it mentions, so that the caller can check formulas and functions;
a fault in the text raises `Fault` with the position (0-based) where reading stopped making sense.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

GLOBALS = frozenset(
    "date duration escapeHTML file html icon if image link list max min now number random today".split()
)
FILE_FIELDS = frozenset(
    "backlinks basename ctime embeds ext file folder links mtime name path properties size tags".split()
)
METHODS = frozenset(
    "isTruthy isType toString date format time relative isEmpty contains containsAll containsAny endsWith lower "
    "replace repeat reverse slice split startsWith title trim abs ceil floor round toFixed filter map reduce flat join "
    "sort unique asFile linksTo asLink hasLink hasProperty hasTag inFolder keys values matches mean sum".split()
)
FILE_METHODS = frozenset("asLink hasLink hasProperty hasTag inFolder isTruthy isType toString".split())
LOCALS = frozenset(("value", "index", "acc", "values", "this"))
LITERALS = frozenset(("true", "false", "null", "undefined"))

TOKEN = re.compile(
    r"""(?P<space>\s+)
      | (?P<number>\d+(?:\.\d+)?(?![\w.]))
      | (?P<name>[^\W\d][\w$]*)
      | (?P<string>"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*')
      | (?P<op>==|!=|>=|<=|&&|\|\||[-+*/%<>!().,\[\]])
    """,
    re.VERBOSE,
)
REGEX = re.compile(r"/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\[\n])+/[a-z]*")
BINARY = {"||": 1, "&&": 2, "==": 3, "!=": 3, ">": 4, "<": 4, ">=": 4, "<=": 4, "+": 5, "-": 5, "*": 6, "/": 6, "%": 6}
DEPTH = 60


class Fault(Exception):
    """The expression cannot be read: `at` is the 0-based position in its text."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


@dataclass
class Names:
    """What an expression mentions, each with its position: formulas, called functions, called methods, file fields."""

    formulas: list[tuple[str, int]] = field(default_factory=list)
    functions: list[tuple[str, int]] = field(default_factory=list)
    methods: list[tuple[str, int]] = field(default_factory=list)
    file_fields: list[tuple[str, int]] = field(default_factory=list)


@dataclass(frozen=True)
class Token:
    kind: str
    text: str
    at: int


def tokens(text: str) -> list[Token]:
    """The expression's tokens. A slash starts a regular expression only where a value may start."""
    found: list[Token] = []
    at = 0
    while at < len(text):
        before = found[-1] if found else None
        value_may_start = before is None or (before.kind == "op" and before.text not in (")", "]"))
        if text[at] == "/" and value_may_start:
            match = REGEX.match(text, at)
            if not match:
                raise Fault("a regular expression that is not closed", at)
            found.append(Token("regex", match.group(), at))
            at = match.end()
            continue
        match = TOKEN.match(text, at)
        if not match:
            raise Fault(stray(text, at), at)
        kind = str(match.lastgroup)
        if kind != "space":
            found.append(Token(kind, match.group(), at))
        at = match.end()
    return found


def stray(text: str, at: int) -> str:
    """Say what is wrong with the character that no token starts with."""
    character = text[at]
    if character in "\"'":
        return f"a string that is not closed ({text[at : at + 20]})"
    if character == "=":
        return "a single '=': write '==' to compare"
    if character in "&|":
        return f"a single '{character}': write '{character * 2}'"
    if character == "?":
        return "'?' is unknown here: write if(condition, then, else)"
    return f"the character {character!r}"


class Reader:
    """One pass over the tokens by operator precedence; collects names, builds no tree."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = tokens(text)
        self.position = 0
        self.depth = 0
        self.names = Names()

    def peek(self) -> Token | None:
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self, what: str) -> Token:
        token = self.peek()
        if token is None:
            raise Fault(f"it ends where {what} should follow", len(self.text))
        self.position += 1
        return token

    def expect(self, text: str) -> None:
        token = self.take(f"'{text}'")
        if token.text != text or token.kind != "op":
            raise Fault(f"{token.text!r} where '{text}' should be", token.at)

    def is_op(self, *texts: str) -> bool:
        token = self.peek()
        return token is not None and token.kind == "op" and token.text in texts

    def whole(self) -> Names:
        if not self.tokens:
            raise Fault("it is empty", 0)
        self.expression(0)
        rest = self.peek()
        if rest is not None:
            raise Fault(f"{rest.text!r} cannot follow what stands before it", rest.at)
        return self.names

    def expression(self, least: int) -> None:
        self.depth += 1
        if self.depth > DEPTH:
            raise Fault("it is nested too deeply", self.tokens[min(self.position, len(self.tokens) - 1)].at)
        self.unary()
        while True:
            token = self.peek()
            if token is None or token.kind != "op" or BINARY.get(token.text, 0) <= least:
                break
            self.position += 1
            self.expression(BINARY[token.text])
        self.depth -= 1

    def unary(self) -> None:
        while self.is_op("!", "-"):
            self.position += 1
        self.postfix()

    def postfix(self) -> None:
        token = self.take("a value")
        root = ""
        if token.kind == "op" and token.text == "(":
            self.expression(0)
            self.expect(")")
        elif token.kind == "op" and token.text == "[":
            self.items("]")
        elif token.kind == "op":
            raise Fault(f"{token.text!r} where a value should be", token.at)
        elif token.kind == "name":
            if token.text not in LITERALS:
                root = token.text
            if self.is_op("("):
                self.position += 1
                self.names.functions.append((token.text, token.at))
                root = ""
                self.items(")")
        self.trail(root)

    def trail(self, root: str) -> None:
        """What may follow a value: `.name`, `.name(…)`, `[…]`; `root` is the value's own name, where it has one."""
        first = True
        while self.is_op(".", "["):
            opener = self.take("a value")
            name, at = "", opener.at
            if opener.text == ".":
                token = self.take("a name")
                if token.kind != "name":
                    raise Fault(f"{token.text!r} where a name should be", token.at)
                name, at = token.text, token.at
            else:
                inside = self.peek()
                if first and inside is not None and inside.kind == "string":
                    name = inside.text[1:-1]
                self.expression(0)
                self.expect("]")
            called = opener.text == "." and self.is_op("(")
            if called:
                self.position += 1
                self.items(")")
                self.names.methods.append((name, at))
            if first and root == "formula" and not called:
                self.names.formulas.append((name, at))
            if first and root == "file" and not called:
                self.names.file_fields.append((name, at))
            first = False

    def items(self, closer: str) -> None:
        if self.is_op(closer):
            self.position += 1
            return
        while True:
            self.expression(0)
            if self.is_op(","):
                self.position += 1
                continue
            self.expect(closer)
            return


def names(text: str) -> Names:
    """What the expression mentions. Raises `Fault` where it cannot be read."""
    return Reader(text).whole()
