"""A Hub on this machine that answers as huggingface.co does: each model stands for one kind of answer."""

import hashlib
import json
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import unquote

COMMIT = "5" * 40
GRANTED, STRANGER, WRONG = "hf_granted", "hf_stranger", "hf_wrong"
"""Tokens: of an account that may read everything, of one that may not, and of nobody."""


@dataclass(kw_only=True)
class FakeHub:
    """models: "org/name" -> file name -> content. Models of the organisations in `answers` answer otherwise.

    hang: requests for `slow/…` wait until it is set. commit: what files are said to be of; empty as of no Hub.
    held_after_bytes: of each safetensors file no more is sent until `hang` is set. heard: the tokens of all requests.
    """

    models: dict[str, dict[str, bytes]]
    url: str = ""
    commit: str = COMMIT
    stop: Callable[[], None] = lambda: None
    hang: threading.Event = field(default_factory=threading.Event)
    held_after_bytes: int | None = None
    asked: list[str] = field(default_factory=list)
    heard: list[str] = field(default_factory=list)


@contextmanager
def fake_hub(models: Mapping[str, Mapping[str, bytes]]) -> Iterator[FakeHub]:
    hub = FakeHub(models={name: dict(files) for name, files in models.items()})

    class Handler(_Handler):
        of = hub

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()

    def stop() -> None:
        hub.hang.set()
        server.shutdown()
        server.server_close()
        thread.join()

    hub.stop = stop
    try:
        yield hub
    finally:
        stop()


class _Handler(BaseHTTPRequestHandler):
    of: FakeHub

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, *_: object) -> None:
        """Nothing: pytest owns the terminal."""

    def _answer(self, *, body: bool) -> None:
        path = unquote(self.path).partition("?")[0]
        wanted = self.headers.get("range")
        self.of.asked.append(f"{self.command} {path}" + (f" {wanted}" if wanted else ""))
        self.of.heard.append(self.headers.get("authorization", ""))
        parts = path.strip("/").split("/")
        if parts[:2] == ["api", "models"] and len(parts) in (4, 6):
            return self._about("/".join(parts[2:4]), parts[5] if len(parts) == 6 else "main", body=body)
        if len(parts) < 5 or parts[2] != "resolve":
            return self._say(200, {}, b"ok", body=body)
        name, revision, file = "/".join(parts[:2]), parts[3], "/".join(parts[4:])
        refused = self._refused(parts[0], revision)
        if refused is not None:
            return self._say(*refused, b"", body=body)
        content = self.of.models.get(name, {}).get(file)
        if content is None:
            return self._say(
                404, _error("EntryNotFound", "Entry not found") | {"X-Repo-Commit": COMMIT}, b"", body=body
            )
        return self._file(content, body=body)

    def _about(self, name: str, revision: str, *, body: bool) -> None:
        """What the Hub's API tells of a model: its commit and its files with their sizes."""
        refused = self._refused(name.partition("/")[0], revision)
        if refused is not None:
            return self._say(*refused, b"", body=body)
        siblings = [{"rfilename": file, "size": len(content)} for file, content in self.of.models[name].items()]
        about = {"id": name, "modelId": name, "sha": self.of.commit, "siblings": siblings}
        return self._say(200, {"Content-Type": "application/json"}, json.dumps(about).encode(), body=body)

    def _refused(self, organisation: str, revision: str) -> tuple[int, dict[str, str]] | None:
        token = self.headers.get("authorization", "").removeprefix("Bearer ")
        if token == WRONG:
            return 401, {"X-Error-Message": "Invalid credentials in Authorization header"}
        if organisation == "slow":
            self.of.hang.wait()
        match organisation:
            case "gated" if not token:
                return 401, _error("GatedRepo", "Access to this model is restricted. Please log in.")
            case "gated" if token != GRANTED:
                return 403, _error("GatedRepo", "Access to this model is restricted and you are not in the list.")
            case "missing" | "private" if not token:
                return 401, _error("RepoNotFound", "Invalid username or password.")
            case "private" if token != GRANTED:
                return 404, _error("RepoNotFound", "Repository not found")
            case "missing":
                return 404, _error("RepoNotFound", "Repository not found")
            case "down":
                return 503, {}
            case "busy":
                return 429, {}
            case "forbidden":
                return 403, {"X-Error-Message": "Your token may not read this."}
        return (
            None if revision in ("main", COMMIT) else (404, _error("RevisionNotFound", f"Invalid rev id: {revision}"))
        )

    def _file(self, content: bytes, *, body: bool) -> None:
        headers = {"ETag": f'"{hashlib.sha256(content).hexdigest()}"', "Accept-Ranges": "bytes"}
        headers |= {"X-Repo-Commit": self.of.commit} if self.of.commit else {}
        wanted = self.headers.get("range", "").removeprefix("bytes=")
        if not wanted:
            return self._say(200, headers, content, body=body)
        first, _, last = wanted.partition("-")
        return self._say(206, headers, content[int(first) : int(last) + 1 if last else None], body=body)

    def _say(self, status: int, headers: Mapping[str, str], content: bytes, *, body: bool) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if not body:
            return
        most = self.of.held_after_bytes
        if most is None or not self.path.endswith(".safetensors") or len(content) <= most:
            self.wfile.write(content)
            return
        self.wfile.write(content[:most])
        self.wfile.flush()
        self.of.hang.wait()


def _error(code: str, message: str) -> dict[str, str]:
    return {"X-Error-Code": code, "X-Error-Message": message}


def config(**fields: object) -> dict[str, bytes]:
    """A model's files: its config.json alone."""
    return {"config.json": json.dumps(fields).encode()}
