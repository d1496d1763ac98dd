"""One request and its reply, over TCP, TLS or a socket in a folder; and when a request is sent again.

Whatever changes something is sent with an idempotency key, so that sending it again is safe: a server that has carried it
out answers with the first outcome. Only that makes it right to repeat a request whose reply was lost.
"""

from __future__ import annotations

import http.client
import json
import os
import random
import select
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from ._errors import OrdainError, Unreachable, of_problem

#: How long a server may take to accept a connection, in seconds.
CONNECT_TIME = 10.0
#: How much longer than it was asked to wait a server may stay silent.
SILENCE = 60.0
#: The largest reply that is read.
REPLY_BYTES_MAX = 1 << 30
#: How often a request is sent when replies are lost.
TRIES_MAX = 5
#: How long a server that is busy is asked again, in seconds.
BUSY_TIME = 120.0
#: What goes wrong before a server has seen anything.
NOT_SENT = (ConnectionRefusedError, FileNotFoundError, PermissionError, socket.gaierror)
#: Connections that are kept for the next request.
IDLE_MAX = 16


@dataclass(frozen=True)
class Reply:
    """What a server answered."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """The body as JSON. Whole numbers keep every digit."""
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError):
            raise not_ordain(f"its reply with status {self.status} is no JSON") from None


def not_ordain(why: str) -> OrdainError:
    return OrdainError(
        "not_ordain", f"what answers there is no Ordain server: {why}", "look at the address; a proxy may stand in between"
    )


class Deadline:
    """A point in time at which the caller waits no longer; none if no time is given."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds

    def left(self, most: float) -> float:
        """The seconds that are left, at most so many."""
        return most if self._end is None else max(0.0, min(most, self._end - time.monotonic()))

    def is_over(self) -> bool:
        return self._end is not None and time.monotonic() >= self._end

    def sleep(self, seconds: float) -> None:
        time.sleep(self.left(seconds))


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str) -> None:
        super().__init__("localhost", timeout=CONNECT_TIME)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self.sock.settimeout(CONNECT_TIME)
            self.sock.connect(self._path)
        except BaseException:
            self.sock.close()
            self.sock = None
            raise


class Wire:
    """Connections to one server, which threads share."""

    def __init__(self, url: str, key: str | None) -> None:
        self.url = url
        self._headers = {"User-Agent": "ordain-python/0.1.0", "Accept": "application/json"}
        if key is not None:
            if not key.isascii() or not key.isprintable() or not key:
                raise OrdainError("bad_key", "the key is not one that can be sent", "it looks like ordain_…; is it whole?")
            self._headers["Authorization"] = f"Bearer {key}"
        self._connect, self._base = _connector(url)
        self._lock = threading.Lock()
        self._idle: list[http.client.HTTPConnection] = []
        self._process = os.getpid()

    def exchange(
        self, method: str, path: str, body: bytes | None, headers: Mapping[str, str], silence: float
    ) -> Reply:
        """Sends a request once. A connection that was kept and has been closed meanwhile raises like any other."""
        connection = self._take() or self._connect()
        try:
            if connection.sock is None:
                connection.connect()
            connection.sock.settimeout(max(silence, 0.01))
            connection.request(method, self._base + path, body=body, headers={**self._headers, **headers})
            response = connection.getresponse()
            if response.length is None and not response.chunked:
                # A header that broke off looks like one without a length; no server of Ordain's sends one.
                raise http.client.IncompleteRead(b"")
            # Of a body with a length `read` takes a part for the whole, unless all of it is asked for.
            has_length = response.length is not None and response.length <= REPLY_BYTES_MAX
            content = response.read(None if has_length else REPLY_BYTES_MAX + 1)
            if len(content) > REPLY_BYTES_MAX:
                raise OrdainError("reply_too_large", f"the reply is larger than {REPLY_BYTES_MAX} bytes")
            reply = Reply(response.status, {name.lower(): value for name, value in response.getheaders()}, content)
        except BaseException:
            connection.close()
            raise
        if response.will_close:
            connection.close()
        else:
            self._give_back(connection)
        return reply

    def close(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for connection in idle:
            connection.close()

    def _take(self) -> http.client.HTTPConnection | None:
        with self._lock:
            if self._process != os.getpid():
                # Connections of the process that this one was forked from stay that one's; closing a copy ends none.
                for connection in self._idle:
                    connection.close()
                self._process, self._idle = os.getpid(), []
            while self._idle:
                connection = self._idle.pop()
                # What can be read before anything was asked is the other end hanging up.
                if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                    return connection
                connection.close()
            return None

    def _give_back(self, connection: http.client.HTTPConnection) -> None:
        with self._lock:
            if len(self._idle) < IDLE_MAX:
                self._idle.append(connection)
                return
        connection.close()


def _connector(url: str) -> tuple[Callable[[], http.client.HTTPConnection], str]:
    """What makes connections to an address, and the part of a path that stands before every route."""
    if url.startswith("unix:/"):
        path = url.removeprefix("unix:")
        return (lambda: _UnixConnection(path)), ""
    try:
        parts = urlsplit(url)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        parts, host, port = urlsplit(""), "", None
    if parts.scheme not in ("http", "https") or not host or parts.query or parts.fragment:
        raise OrdainError("bad_url", f"`{url}` is no address of a server", "write one such as http://127.0.0.1:8000")
    if parts.username or parts.password:
        raise OrdainError("bad_url", "a key does not stand in the address", "give it as `key=`")
    base = parts.path.rstrip("/").removesuffix("/v1")
    if parts.scheme == "https":
        context = ssl.create_default_context()
        return (lambda: http.client.HTTPSConnection(host, port, timeout=CONNECT_TIME, context=context)), base
    return (lambda: http.client.HTTPConnection(host, port, timeout=CONNECT_TIME)), base


def send(
    wire: Callable[[bool], Wire],
    method: str,
    path: str,
    body: Any = None,
    *,
    until: Deadline,
    key: str | None = None,
    wait: float | None = None,
) -> Reply:
    """Sends a request until there is a reply, where sending it again is safe. `wire(True)` is asked for after a loss."""
    content = None if body is None else json.dumps(body, allow_nan=False).encode()
    headers = {} if content is None else {"Content-Type": "application/json"}
    if key is not None:
        headers["Idempotency-Key"] = key
    is_safe = key is not None or method == "GET"
    busy_until = Deadline(BUSY_TIME)
    losses, was_sent = 0, False
    while True:
        waits = None if wait is None else until.left(wait)
        if waits is not None:
            headers["Prefer"] = f"wait={int(waits)}"
        try:
            silence = SILENCE + (waits or 0.0)
            reply = wire(losses > 0).exchange(method, path, content, headers, silence)
        except (OSError, http.client.HTTPException) as error:
            losses += 1
            was_sent = was_sent or not isinstance(error, NOT_SENT)
            can_repeat = is_safe or isinstance(error, NOT_SENT)
            if not can_repeat or losses >= TRIES_MAX or until.is_over():
                raise _unreachable(wire(False).url, error, key if was_sent else None) from error
            until.sleep(0.05 * 4**losses * random.uniform(0.5, 1.0))
            continue
        is_busy = reply.status == 429 or (reply.status == 503 and is_safe)
        if is_busy and not until.is_over() and not busy_until.is_over():
            until.sleep(_retry_after(reply) * random.uniform(1.0, 1.2))
            continue
        if reply.status < 400:
            return reply
        problem = reply.json()
        if not isinstance(problem, dict) or "code" not in problem:
            raise not_ordain(f"its error with status {reply.status} has no code")
        raise of_problem(problem, reply.status, key)


def _retry_after(reply: Reply) -> float:
    try:
        return min(60.0, max(0.0, float(reply.headers.get("retry-after", "1"))))
    except ValueError:
        return 1.0


def _unreachable(url: str, error: Exception, key: str | None) -> OrdainError:
    said = str(error) or type(error).__name__
    if isinstance(error, PermissionError):
        return Unreachable("unreachable", f"the server at {url} is another user's: {said}", idempotency_key=key)
    hint = "is `ordain serve` running there?"
    if key is not None:
        hint += f" The request may have been carried out: sent again with key={key!r} it is carried out once."
    return Unreachable("unreachable", f"no reply from the server at {url}: {said}", hint, idempotency_key=key)
