"""A scripted stand-in for a model server, on 127.0.0.1 only, standard library only.

It speaks just enough of three protocols for a coding agent to run a whole headless session:

* OpenAI Responses (``POST .../responses``, server-sent events) for Codex CLI;
* Gemini ``:streamGenerateContent?alt=sse`` (and the plain ``:generateContent`` and
  ``:countTokens``) for Gemini CLI;
* Anthropic Messages (``POST /v1/messages``) for Claude Code.

The script is a list of steps, one taken per *turn request*; when it runs out the stub
answers with the text "done". A step is a dict with any of

    {"text": "hello"}                                  an assistant message
    {"call": "tool_name", "args": {...}}               a function call
    {"custom": "apply_patch", "input": "*** Begin..."} a Responses custom (freeform) call
    {"tool_search": "words"}                           a search for deferred tools (Codex)
    {"usage": 250000}                                  total tokens to report (default 100)
    {"status": 400, "text": "why"}                     an HTTP error instead of a reply
    {"delay": 1.5}                                     seconds to wait before replying

or a callable taking the decoded request body and returning such a dict.

Every request is appended to ``StubModel.requests`` as {"method", "path", "body"}.
"""

from __future__ import annotations

import json
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class StubModel:
    """Use as a context manager; ``url`` is the server's base address."""

    def __init__(self, script=(), port: int = 0):
        self.script = list(script)
        self.requests: list[dict] = []
        self._lock = threading.Lock()
        self._turn = 0
        stub = self

        class Handler(_Handler):
            model = stub

        self._server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> StubModel:
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *exc) -> None:
        self._server.shutdown()
        self._server.server_close()

    def next_step(self, body: dict) -> tuple[int, dict]:
        with self._lock:
            turn, self._turn = self._turn, self._turn + 1
        step = self.script[turn] if turn < len(self.script) else {"text": "done"}
        return turn, dict(step(body) if callable(step) else step)

    def log(self, **record) -> None:
        with self._lock:
            self.requests.append(record)

    def turns(self) -> list[dict]:
        """The bodies of the requests that took a step, oldest first."""
        return [
            r["body"]
            for r in self.requests
            if r["path"].split("?")[0].endswith(("/responses", ":streamGenerateContent"))
            or (r["path"].split("?")[0].endswith("/messages") and (r["body"] or {}).get("tools"))
        ]


class _Handler(BaseHTTPRequestHandler):
    model: StubModel
    protocol_version = "HTTP/1.1"

    def log_message(self, *args) -> None:
        pass

    def do_GET(self) -> None:
        self.model.log(method="GET", path=self.path, body=None)
        self._json({"models": [], "data": [], "object": "list"})

    def do_POST(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        try:
            body = json.loads(raw or b"null")
        except ValueError:
            body = {"raw": raw.decode("utf-8", "replace")}
        self.model.log(method="POST", path=self.path, body=body)
        route = self.path.split("?")[0]
        if route.endswith("/responses"):
            self._turn(body, _responses_events)
        elif route.endswith(":streamGenerateContent"):
            self._turn(body, _gemini_events)
        elif route.endswith("/messages"):  # a side request (a title) has no tools, and takes no step
            if body.get("tools"):
                self._turn(body, _anthropic_events)
            else:
                self._json(_anthropic_message(0, [{"type": "text", "text": "{}"}], "end_turn", 10))
        elif route.endswith("/messages/count_tokens"):
            self._json({"input_tokens": 10})
        elif route.endswith(":generateContent"):
            # Side requests (routing, loop checks, titles): an empty JSON object suits them all.
            self._json(_gemini_reply([{"text": "{}"}], 10))
        elif route.endswith(":countTokens"):
            self._json({"totalTokens": 10})
        else:
            self._json({"error": {"message": f"no such route: {route}"}}, 404)

    def _turn(self, body: dict, render) -> None:
        turn, step = self.model.next_step(body)
        time.sleep(step.get("delay", 0))
        if "status" in step:
            message = step.get("text", "stub error")
            self._json({"error": {"message": message, "code": step["status"]}}, step["status"])
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for event in render(turn, step):
            name = f"event: {event['type']}\n" if "type" in event else ""
            self.wfile.write(f"{name}data: {json.dumps(event)}\n\n".encode())
        self.close_connection = True

    def _json(self, payload: dict, status: int = 200) -> None:
        data = json.dumps(payload).encode()
        self.send_response(status)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _responses_events(turn: int, step: dict):
    """The events of one OpenAI Responses stream."""
    rid = f"resp_{turn}"
    yield {"type": "response.created", "response": {"id": rid}}
    items = []
    if "text" in step:
        items.append(
            {
                "type": "message",
                "role": "assistant",
                "id": f"msg_{turn}",
                "content": [{"type": "output_text", "text": step["text"]}],
            }
        )
    if "call" in step:
        items.append(
            {
                "type": "function_call",
                "id": f"fc_{turn}",
                "call_id": f"call_{turn}",
                "name": step["call"],
                "arguments": json.dumps(step.get("args", {})),
            }
            | ({"namespace": step["namespace"]} if "namespace" in step else {})
        )
    if "custom" in step:
        items.append(
            {
                "type": "custom_tool_call",
                "id": f"ctc_{turn}",
                "call_id": f"call_{turn}",
                "name": step["custom"],
                "input": step["input"],
            }
        )
    if "tool_search" in step:
        items.append(
            {
                "type": "tool_search_call",
                "id": f"ts_{turn}",
                "call_id": f"call_{turn}",
                "status": "completed",
                "execution": "client",
                "arguments": {"query": step["tool_search"], "limit": 20},
            }
        )
    for item in items:
        yield {"type": "response.output_item.done", "item": item}
    total = step.get("usage", 100)
    yield {
        "type": "response.completed",
        "response": {
            "id": rid,
            "usage": {
                "input_tokens": total - 10,
                "input_tokens_details": None,
                "output_tokens": 10,
                "output_tokens_details": None,
                "total_tokens": total,
            },
        },
    }


def _gemini_reply(parts: list, total: int) -> dict:
    return {
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": total - 5, "candidatesTokenCount": 5, "totalTokenCount": total},
        "modelVersion": "stub",
    }


def _gemini_events(turn: int, step: dict):
    """The (one) chunk of a Gemini stream."""
    parts = []
    if "text" in step:
        parts.append({"text": step["text"]})
    if "call" in step:
        parts.append({"functionCall": {"id": f"call_{turn}", "name": step["call"], "args": step.get("args", {})}})
    yield _gemini_reply(parts, step.get("usage", 100))


def _anthropic_message(turn: int, content: list, stop: str | None, total: int) -> dict:
    usage = {"input_tokens": total - 5, "output_tokens": 5}
    head = {"id": f"msg_{turn}", "type": "message", "role": "assistant", "model": "stub"}
    return head | {"content": content, "stop_reason": stop, "stop_sequence": None, "usage": usage}


def _anthropic_events(turn: int, step: dict):
    """The events of one Anthropic Messages stream."""
    yield {"type": "message_start", "message": _anthropic_message(turn, [], None, step.get("usage", 100))}
    blocks = []
    if "text" in step:
        blocks.append(({"type": "text", "text": ""}, {"type": "text_delta", "text": step["text"]}))
    if "call" in step:
        block = {"type": "tool_use", "id": f"call_{turn}", "name": step["call"], "input": {}}
        blocks.append((block, {"type": "input_json_delta", "partial_json": json.dumps(step.get("args", {}))}))
    for index, (block, delta) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    stop = "tool_use" if "call" in step else "end_turn"
    yield {
        "type": "message_delta",
        "delta": {"stop_reason": stop, "stop_sequence": None},
        "usage": {"output_tokens": 5},
    }
    yield {"type": "message_stop"}
