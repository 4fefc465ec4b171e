"""A server that answers as an OpenAI-compatible endpoint does, failures included."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Reply = tuple[int, dict[str, str], str]


def completion(
    content: str, *, prompt: int = 1_000, answer: int = 100, finish: str = "stop"
) -> Reply:
    """A chat completion with its token usage."""
    usage = {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer}
    choice = {"index": 0, "finish_reason": finish} | {
        "message": {"role": "assistant", "content": content}
    }
    body = {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}
    return 200, {}, json.dumps(body)


def picks(*names: str) -> Reply:
    """What the tree prompt asks for: qualified names, best first."""
    return completion(json.dumps({"node_list": list(names)}))


@dataclass
class FakeLlm:
    """Replies are used up in order; the last one is repeated."""

    replies: list[Reply]
    models: Reply = (200, {}, json.dumps({"object": "list", "data": [{"id": "m"}]}))
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    base_url: str = ""
    wait: Callable[[], object] = lambda: None  # before each completion


@contextmanager
def serve(fake: FakeLlm) -> Iterator[FakeLlm]:
    """Listen on a free port of this machine."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            fake.authorizations.append(self.headers.get("authorization"))
            self._send(fake.models if self.path == "/v1/models" else (404, {}, "no such page"))

        def do_POST(self) -> None:
            length = int(self.headers["content-length"])
            fake.requests.append(json.loads(self.rfile.read(length)))
            fake.authorizations.append(self.headers.get("authorization"))
            if self.path != "/v1/chat/completions":
                self._send((404, {}, "no such page"))
                return
            fake.wait()
            self._send(fake.replies.pop(0) if len(fake.replies) > 1 else fake.replies[0])

        def _send(self, reply: Reply) -> None:
            status, headers, body = reply
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body.encode())))
            self.end_headers()
            self.wfile.write(body.encode())

        def log_message(self, *arguments: object) -> None:
            del arguments

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    fake.base_url = f"http://127.0.0.1:{server.server_port}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
