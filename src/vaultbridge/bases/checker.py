"""Check one `.base` file: its shape, and that every name in it means something.

Obsidian keeps unknown keys at every level, so those are never a fault; a name that it would look up in vain is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from vaultbridge.bases import expression
from vaultbridge.checks.finding import Finding

SIZE = 500_000
NODES = 20_000
SUMMARIES = frozenset(
    "Average Min Max Sum Range Median Stddev Earliest Latest Checked Unchecked Empty Filled Unique".split()
)
GROUPS = ("and", "or", "not")
UNLINKABLE = re.compile(r"[#|^:\[\]]|%%")
IDENTIFIER = re.compile(r"(?:(note|file|formula)(?:\.(.+)|\[(\"[^\"]+\"|'[^']+')\]))|(.+)", re.DOTALL)


def check(path: str, text: str, views: list[str] | None = None) -> list[Finding]:
    """The faults of the base at `path` (used in messages only). `views`, when given, receives the view names."""
    return sorted(set(Checker(path, text, views).findings()))


def view_names(text: str) -> list[str]:
    """The names of the base's views; empty when it cannot be read."""
    names: list[str] = []
    check("", text, names)
    return names


class Checker:
    """Walks YAML nodes rather than values, so that every finding has its line."""

    def __init__(self, path: str, text: str, views: list[str] | None) -> None:
        self.path = path
        self.text = text
        self.views: list[str] = views if views is not None else []
        self.formulas: set[str] = set()
        self.summaries: set[str] = set()
        self.uses: dict[str, set[str]] = {}
        self.budget = NODES

    def found(self, node: Any, rule: str, message: str, fix: str = "", level: str = "error") -> Finding:
        line = node.start_mark.line + 1 if node is not None else 0
        return Finding(self.path, line, f"base-{rule}", message, fix, level)

    def findings(self) -> Iterator[Finding]:
        import yaml

        if len(self.text) > SIZE:
            yield self.found(None, "size", f"the base is larger than {SIZE:,} characters and was not checked")
            return
        try:
            root = yaml.compose(self.text.lstrip("\ufeff"), Loader=yaml.SafeLoader)
        except yaml.YAMLError as error:
            mark = getattr(error, "problem_mark", None)
            what = getattr(error, "problem", None) or str(error).split("\n")[0]
            hint = "put expressions with ':', '#', '!' or double quotes in single quotes"
            yield Finding(self.path, mark.line + 1 if mark else 0, "base-yaml", f"not valid YAML: {what}", hint)
            return
        except RecursionError:
            yield self.found(None, "yaml", "nested too deeply to be read")
            return
        if root is None:
            return
        if not isinstance(root, yaml.MappingNode):
            yield self.found(root, "shape", "the top level must be a mapping (filters, formulas, properties, views)")
            return
        sections = dict(self.pairs(root))
        yield from self.duplicates(root)
        yield from self.learn(sections)
        if "filters" in sections:
            yield from self.filter(sections["filters"], 0)
        yield from self.formula_section(sections.get("formulas"))
        yield from self.property_section(sections.get("properties"))
        yield from self.summary_section(sections.get("summaries"))
        yield from self.view_section(sections.get("views"))

    # YAML nodes

    def pairs(self, node: Any) -> Iterator[tuple[str, Any]]:
        self.budget -= len(node.value)
        if self.budget > 0:
            for key, value in node.value:
                yield str(key.value), value

    def duplicates(self, node: Any) -> Iterator[Finding]:
        seen: set[str] = set()
        for key, _ in node.value:
            if str(key.value) in seen:
                yield self.found(key, "duplicate-key", f"the key {str(key.value)!r} stands here twice")
            seen.add(str(key.value))

    def kind(self, node: Any) -> str:
        return str(node.id)  # "mapping", "sequence" or "scalar"

    def mapping(self, node: Any, name: str) -> Iterator[Finding]:
        if node is not None and self.kind(node) != "mapping" and node.value not in ("", "null", "~"):
            yield self.found(node, "shape", f"{name} must be a mapping of names to values")

    def entries(self, node: Any) -> list[tuple[str, Any]]:
        return list(self.pairs(node)) if node is not None and self.kind(node) == "mapping" else []

    # sections

    def learn(self, sections: dict[str, Any]) -> Iterator[Finding]:
        for name in ("formulas", "properties", "summaries"):
            if name in sections:
                yield from self.mapping(sections[name], name)
                if self.kind(sections[name]) == "mapping":
                    yield from self.duplicates(sections[name])
        self.formulas = {name for name, _ in self.entries(sections.get("formulas"))}
        self.summaries = {name for name, _ in self.entries(sections.get("summaries"))}

    def formula_section(self, node: Any) -> Iterator[Finding]:
        for name, value in self.entries(node):
            if self.kind(value) != "scalar":
                yield self.found(value, "formula", f"the formula {name!r} must be one expression")
                continue
            names: list[expression.Names] = []
            yield from self.expression(value, f"the formula {name!r}", names)
            self.uses[name] = {used for found in names for used, _ in found.formulas}
        for name, value in self.entries(node):
            if self.reaches(name, name):
                yield self.found(value, "formula-circle", f"the formula {name!r} depends on itself")

    def reaches(self, start: str, goal: str) -> bool:
        queue, seen = list(self.uses.get(start, ())), set[str]()
        while queue:
            name = queue.pop()
            if name == goal:
                return True
            if name not in seen:
                seen.add(name)
                queue.extend(self.uses.get(name, ()))
        return False

    def property_section(self, node: Any) -> Iterator[Finding]:
        for name, value in self.entries(node):
            yield from self.identifier(value, name, "properties")
            yield from self.mapping(value, f"the entry {name!r} of properties")

    def summary_section(self, node: Any) -> Iterator[Finding]:
        for name, value in self.entries(node):
            if self.kind(value) != "scalar":
                yield self.found(value, "summary", f"the summary {name!r} must be one expression")
            else:
                yield from self.expression(value, f"the summary {name!r}")

    def view_section(self, node: Any) -> Iterator[Finding]:
        if node is None or (self.kind(node) == "scalar" and not node.value):
            return
        if self.kind(node) != "sequence":
            yield self.found(node, "shape", "views must be a list")
            return
        for view in node.value:
            if self.kind(view) != "mapping":
                yield self.found(view, "shape", "a view must be a mapping with type and name")
                continue
            yield from self.view(view)

    def view(self, node: Any) -> Iterator[Finding]:
        parts = dict(self.pairs(node))
        yield from self.duplicates(node)
        name = parts["name"].value if "name" in parts and self.kind(parts["name"]) == "scalar" else ""
        where = f"the view {name!r}"
        if "type" not in parts or self.kind(parts["type"]) != "scalar" or not parts["type"].value:
            yield self.found(node, "view-type", f"{where} has no type", "type: table, cards, list or map")
        if not name:
            yield self.found(node, "view-name", "a view has no name")
        elif name in self.views:
            yield self.found(parts["name"], "view-name", f"two views are named {name!r}")
        elif UNLINKABLE.search(name):
            fix = "leave out # | ^ : [ ] and %%"
            yield self.found(parts["name"], "view-name", f"{where} cannot be linked or embedded", fix, "warning")
        self.views.append(name)
        if "filters" in parts:
            yield from self.filter(parts["filters"], 0)
        yield from self.order(parts.get("order"), where)
        yield from self.sort(parts.get("sort"), where)
        yield from self.group(parts.get("groupBy"), where)
        limit = parts.get("limit")
        if limit is not None and not (self.kind(limit) == "scalar" and limit.value.isdigit() and int(limit.value) > 0):
            yield self.found(limit, "limit", f"the limit of {where} must be a positive whole number")
        for column, summary in self.entries(parts.get("summaries")):
            yield from self.identifier(summary, column, f"the summaries of {where}")
            if self.kind(summary) == "scalar" and summary.value not in SUMMARIES | self.summaries:
                fix = "define it under summaries, or use one that Obsidian has"
                yield self.found(summary, "summary", f"{where} uses the unknown summary {summary.value!r}", fix)

    def order(self, node: Any, where: str) -> Iterator[Finding]:
        if node is None:
            return
        if self.kind(node) != "sequence":
            yield self.found(node, "shape", f"the order of {where} must be a list of properties")
            return
        for item in node.value:
            if self.kind(item) == "scalar":
                yield from self.identifier(item, item.value, f"the order of {where}")
            else:
                yield self.found(item, "shape", f"the order of {where} must hold property names")

    def sort(self, node: Any, where: str) -> Iterator[Finding]:
        if node is None:
            return
        if self.kind(node) != "sequence":
            yield self.found(node, "shape", f"the sort of {where} must be a list")
            return
        for item in node.value:
            yield from self.direction(item, f"the sort of {where}")

    def group(self, node: Any, where: str) -> Iterator[Finding]:
        if node is None:
            return
        if self.kind(node) == "sequence":
            yield self.found(node, "group", f"{where} can be grouped by one property only")
        elif self.kind(node) == "mapping":
            yield from self.direction(node, f"groupBy of {where}")
        else:
            yield from self.identifier(node, node.value, f"groupBy of {where}")

    def direction(self, node: Any, where: str) -> Iterator[Finding]:
        if self.kind(node) != "mapping":
            yield self.found(node, "shape", f"{where} must name a property and a direction")
            return
        parts = dict(self.pairs(node))
        if "property" in parts and self.kind(parts["property"]) == "scalar":
            yield from self.identifier(parts["property"], parts["property"].value, where)
        elif "column" in parts:
            fix = "write property: instead of column:"
            yield self.found(parts["column"], "old-sort", f"{where} uses the form before Obsidian 1.9.2", fix)
        else:
            yield self.found(node, "shape", f"{where} names no property")
        if "direction" in parts and parts["direction"].value not in ("ASC", "DESC"):
            yield self.found(parts["direction"], "direction", f"the direction in {where} must be ASC or DESC")

    # names

    def identifier(self, node: Any, name: str, where: str) -> Iterator[Finding]:
        match = IDENTIFIER.fullmatch(name)
        if match is None or not name.strip():
            yield self.found(node, "property", f"an empty property name in {where}")
            return
        kind, key = match.group(1), match.group(2) or (match.group(3) or "")[1:-1]
        if kind == "file" and key not in expression.FILE_FIELDS:
            fix = "file. has " + ", ".join(sorted(expression.FILE_FIELDS))
            yield self.found(node, "property", f"{where} names file.{key}, which does not exist", fix)
        elif kind == "formula" and key not in self.formulas:
            yield self.found(node, "formula", f"{where} names formula.{key}, which is not defined")

    def filter(self, node: Any, depth: int) -> Iterator[Finding]:
        self.budget -= 1
        if depth > 20 or self.budget <= 0:
            yield self.found(node, "filter", "filters are nested too deeply")
            return
        if self.kind(node) == "scalar":
            if node.value not in ("", "null", "~"):
                yield from self.expression(node, "a filter")
            return
        if self.kind(node) == "sequence":
            yield self.found(node, "filter", "a list of filters needs a key above it", "and:, or: or not:")
            return
        pairs = list(self.pairs(node))
        if len(pairs) != 1 or pairs[0][0] not in GROUPS:
            keys = ", ".join(key for key, _ in pairs) or "none"
            message = f"a filter group needs exactly one of and, or, not; here: {keys}"
            yield self.found(node, "filter", message)
            return
        items = pairs[0][1]
        if self.kind(items) != "sequence":
            if self.kind(items) != "scalar" or items.value:
                yield self.found(items, "filter", f"{pairs[0][0]}: must hold a list of filters")
            return
        for item in items.value:
            yield from self.filter(item, depth + 1)

    def expression(self, node: Any, where: str, sink: list[expression.Names] | None = None) -> Iterator[Finding]:
        text = str(node.value)
        if not text.strip():
            return
        try:
            names = expression.names(text)
        except expression.Fault as fault:
            yield self.found(node, "expression", f"{where} cannot be read: {fault}, at character {fault.at + 1}")
            return
        if sink is not None:
            sink.append(names)
        for name, _ in names.formulas:
            if name not in self.formulas:
                yield self.found(node, "formula", f"{where} names formula.{name}, which is not defined")
        for name, _ in names.functions:
            if name not in expression.GLOBALS:
                fix = "use .isEmpty()" if name == "empty" else "see Obsidian's help, Bases, Functions"
                yield self.found(node, "function", f"{where} calls {name}(), which does not exist", fix)
        for name, _ in names.methods:
            if name not in expression.METHODS:
                yield self.found(node, "function", f"{where} calls .{name}(), which does not exist")
        for name, _ in names.file_fields:
            if name not in expression.FILE_FIELDS:
                yield self.found(node, "property", f"{where} names file.{name}, which does not exist")
