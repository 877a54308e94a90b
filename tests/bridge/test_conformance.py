"""The protocol's own conformance suite against the same server object, over loopback HTTP.

Scenarios that talk to any server must pass. The others are listed with the reason; one that starts to pass, or that the
suite adds, fails the test until it is put where it belongs.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bridge import node

PACKAGE = "@modelcontextprotocol/conformance"
FRONT = Path(__file__).with_name("http_front.py")

pytestmark = [
    pytest.mark.node,
    pytest.mark.skipif(node.missing(PACKAGE) is not None, reason=node.missing(PACKAGE) or ""),
]

OWN = "calls a tool, prompt or resource that the suite wants a server to have for its sake"
EXCEPTIONS = {
    **dict.fromkeys(
        (
            "tools-call-simple-text", "tools-call-image", "tools-call-audio", "tools-call-embedded-resource",
            "tools-call-mixed-content", "tools-call-with-logging", "tools-call-error", "tools-call-with-progress",
            "tools-call-sampling", "tools-call-elicitation", "json-schema-2020-12", "elicitation-sep1034-defaults",
            "elicitation-sep1330-enums", "resources-read-text", "resources-read-binary", "resources-templates-read",
            "resources-subscribe", "resources-unsubscribe", "prompts-get-simple", "prompts-get-with-args",
            "prompts-get-embedded-resource", "prompts-get-with-image", "http-custom-header-server-validation",
            "input-required-result-basic-elicitation", "input-required-result-basic-sampling",
            "input-required-result-basic-list-roots", "input-required-result-request-state",
            "input-required-result-multiple-input-requests", "input-required-result-multi-round",
            "input-required-result-non-tool-request", "input-required-result-result-type",
            "input-required-result-tampered-state", "input-required-result-capability-check",
        ),
        OWN,
    ),
    "logging-set-level": "logging over the protocol is deprecated and not offered: the bridge logs to stderr",
    "server-stateless": "24 of its 28 checks pass; the other four call the suite's own tools, and it waits long for a "
    "change of lists that never change",
}  # fmt: skip
GENERIC = {
    "2025-06-18": {
        "server-initialize", "server-session-lifecycle", "ping", "completion-complete", "tools-list", "resources-list",
        "prompts-list",
    },
    "2025-11-25": {
        "server-initialize", "server-session-lifecycle", "ping", "completion-complete", "tools-list", "resources-list",
        "prompts-list", "server-sse-polling", "server-sse-multiple-streams", "dns-rebinding-protection",
    },
    "2026-07-28": {
        "completion-complete", "tools-list", "resources-list", "prompts-list", "server-sse-multiple-streams",
        "sep-2164-resource-not-found", "dns-rebinding-protection", "caching", "http-header-validation",
        "input-required-result-missing-input-response", "input-required-result-unsupported-methods",
        "input-required-result-ignore-extra-params", "input-required-result-validate-input",
    },
}  # fmt: skip


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    root = tmp_path_factory.mktemp("vault")
    (root / "brain").mkdir()
    (root / "brain" / "a.md").write_text("# A\n")
    (root / "vault-manifest.json").write_text('{"user_content_roots": ["brain/"]}')
    front = subprocess.Popen([sys.executable, str(FRONT), str(root)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert front.stdout
    port = front.stdout.readline().decode().strip()
    yield f"http://127.0.0.1:{port}/mcp"
    front.kill()
    front.wait()
    front.stdout.close()


@pytest.mark.parametrize("version", list(GENERIC))
def test_every_generic_scenario_passes(version: str, url: str) -> None:
    words = ["server", "--url", url, "--suite", "all", "--spec-version", version, "--timeout", "4000"]
    run = subprocess.run(
        node.command(PACKAGE, *words), capture_output=True, text=True, timeout=240, env=node.environment()
    )
    summary = run.stdout.partition("=== SUMMARY ===")[2]
    found = {name: mark == "✓" for mark, name in re.findall(r"([✓✗]) ([\w-]+):", summary)}
    passed = {name for name, fine in found.items() if fine}
    failed = set(found) - passed
    assert GENERIC[version] <= passed, f"failed: {sorted(GENERIC[version] - passed)}\n{run.stdout[-6000:]}"
    assert failed <= set(EXCEPTIONS), f"failed without a listed reason: {sorted(failed - set(EXCEPTIONS))}"
    assert passed <= GENERIC[version], f"passes now, list it: {sorted(passed - GENERIC[version])}"
