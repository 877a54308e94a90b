"""Properties beyond the flat subset: PyYAML's parser, our own meaning of scalars, bounded depth and size.

PyYAML is imported inside `load`, so that everything else works without it.
"""

from __future__ import annotations

from vaultcore import scalars

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_MOST_VALUES = 20_000
_MOST_DEPTH = 32
# YAML 1.1 breaks lines at these, 1.2 does not: they travel through the parser as private characters.
_TO_PRIVATE = {0x85: "\uf185", 0x2028: "\uf128", 0x2029: "\uf129"}
_FROM_PRIVATE = {0xF185: "\x85", 0xF128: "\u2028", 0xF129: "\u2029"}


class Invalid(Exception):
    """The block is no YAML mapping that we take; line and column count from 0 inside the block."""

    def __init__(self, message: str, line: int = 0, column: int = 0) -> None:
        super().__init__(message)
        self.message = message
        self.line = line
        self.column = column


class _Frame:
    __slots__ = ("anchor", "before", "column", "items", "key", "line", "mapping")

    def __init__(self, mapping: bool, anchor: str | None, before: int) -> None:
        self.mapping = mapping
        self.items: Any = {} if mapping else []
        self.key: str | None = None
        self.line = self.column = 0
        self.anchor = anchor
        self.before = before


def load(block: str) -> list[tuple[str, object, int, int]]:
    """Return (key, value, line, column) of every top-level property, in order, repeated keys included.

    Raises Invalid, or ImportError when PyYAML is not installed.
    """
    import yaml

    odd = any(mark in block for mark in "\x85\u2028\u2029")
    text = block.translate(_TO_PRIVATE) if odd else block
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        return _Builder(odd).build(yaml.parse(text, Loader=loader), yaml)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise Invalid(error.problem or "not valid YAML", mark.line if mark else 0, mark.column if mark else 0) from None
    except yaml.YAMLError as error:
        at = getattr(error, "position", 0)
        line = block.count("\n", 0, at) if isinstance(at, int) else 0
        raise Invalid(str(getattr(error, "reason", "not valid YAML")), line) from None
    except (UnicodeError, RecursionError, ValueError) as error:
        raise Invalid(f"not valid YAML ({type(error).__name__})") from None


class _Builder:
    """Builds plain Python values from parser events with a stack: no recursion; aliases cost what they expand to."""

    def __init__(self, odd: bool) -> None:
        self.odd = odd
        self.count = 0
        self.stack: list[_Frame] = []
        self.anchors: dict[str, tuple[object, int]] = {}
        self.pairs: list[tuple[str, object, int, int]] = []
        self.started = False

    def build(self, events: Any, yaml: Any) -> list[tuple[str, object, int, int]]:
        for event in events:
            mark = event.start_mark
            if isinstance(event, yaml.ScalarEvent):
                self._root(event, yaml)
                value = self._scalar(event)
                self._spend(1, mark)
                if event.anchor:
                    self.anchors[event.anchor] = (value, 1)
                self._add(value, event.value, mark)
            elif isinstance(event, yaml.AliasEvent):
                self._root(event, yaml)
                if event.anchor not in self.anchors:
                    raise Invalid(f"*{event.anchor} refers to nothing", mark.line, mark.column)
                value, size = self.anchors[event.anchor]
                self._spend(size, mark)
                self._add(value, value if isinstance(value, str) else None, mark)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                self._root(event, yaml)
                if self.stack and self.stack[-1].mapping and self.stack[-1].key is None:
                    raise Invalid("a key must be plain text", mark.line, mark.column)
                if len(self.stack) >= _MOST_DEPTH:
                    raise Invalid("values are nested too deeply", mark.line, mark.column)
                mapping = isinstance(event, yaml.MappingStartEvent)
                self.stack.append(_Frame(mapping, event.anchor, self.count))
                self._spend(1, mark)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                frame = self.stack.pop()
                if frame.anchor:
                    self.anchors[frame.anchor] = (frame.items, self.count - frame.before)
                if self.stack:
                    self._add(frame.items, None, mark)
        return self.pairs

    def _root(self, event: Any, yaml: Any) -> None:
        if self.stack:
            return
        mark = event.start_mark
        if self.started or not isinstance(event, yaml.MappingStartEvent):
            raise Invalid("properties must be lines of `key: value`", mark.line, mark.column)
        self.started = True

    def _spend(self, size: int, mark: Any) -> None:
        self.count += size
        if self.count > _MOST_VALUES:
            raise Invalid("the aliases expand to too many values", mark.line, mark.column)

    def _add(self, value: object, written: object, mark: Any) -> None:
        frame = self.stack[-1]
        if not frame.mapping:
            frame.items.append(value)
        elif frame.key is None:
            if not isinstance(written, str):
                raise Invalid("a key must be plain text", mark.line, mark.column)
            frame.key, frame.line, frame.column = written, mark.line, mark.column
        else:
            if len(self.stack) == 1:
                self.pairs.append((frame.key, value, frame.line, frame.column))
            else:
                frame.items[frame.key] = value
            frame.key = None

    def _scalar(self, event: Any) -> object:
        text: str = event.value
        if self.odd:
            text = text.translate(_FROM_PRIVATE)
        if event.style in ('"', "'", "|", ">") or (event.tag and event.tag.endswith(":str")):
            return text
        return scalars.resolve(text)
