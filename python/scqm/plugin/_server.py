"""Serve a loss to the program that started this process.

It is the part of the protocol (docs/plugin-protocol.md) that the plugin plays: shake
hands, answer requests over gRPC or a faster line, read residuals from shared memory,
and end with the host. grpcio is imported when a plugin is served.
"""

from __future__ import annotations

import json
import math
import mmap
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from scqm.plugin import _wire as wire
from scqm.plugin._loss import (
    STRUCTURES,
    Array,
    Loss,
    ParameterError,
    check_declaration,
    schema_of,
)

COOKIE_KEY, COOKIE_VALUE = "SCQM_PLUGIN_COOKIE", "loss"
PROTOCOL = 1
_ALIGN = 64
# How many residuals are scored at a time: with what NumPy makes of them on the
# way, they fit the cache.
_BLOCK = 1 << 14
_MAX_FRAME = 1 << 16
_THREADS = 8
_WATCH_SECONDS = 0.2


class _RefusalError(Exception):
    """What is answered with a gRPC status: its name and a sentence."""

    def __init__(self, code: str, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code


class Service:
    """The calls of protocol v1 on one loss, without the transport."""

    def __init__(self, prototype: Loss, frame_socket: str = "") -> None:
        self.frame_socket = frame_socket
        self._prototype = prototype
        self._loss: Loss | None = None
        self._segments: dict[int, mmap.mmap] = {}
        self.calls: dict[str, Callable[[bytes], bytes]] = {
            "Describe": self.describe,
            "Configure": self.configure,
            "Attach": self.attach,
            "Detach": self.detach,
            "Evaluate": self.evaluate,
        }

    def describe(self, _: bytes) -> bytes:
        """Say what the loss is and which parameters it takes."""
        loss = self._prototype
        schema = schema_of(loss)
        summary = loss.summary or (type(loss).__doc__ or "").strip().split("\n")[0]
        text = json.dumps(schema) if schema else ""
        return wire.describe_response(
            loss.name, loss.version, summary, loss.formula, text
        )

    def configure(self, message: bytes) -> bytes:
        """Make the loss that the user wants, and say what it offers."""
        given = json.loads(wire.configure_request(message) or "{}")
        defaults = {
            name: getattr(self._prototype, name)
            for name in self._prototype.parameters()
        }
        try:
            loss = type(self._prototype)(**(defaults | given))
        except ParameterError as e:
            raise _RefusalError("INVALID_ARGUMENT", str(e)) from e
        self._loss = loss
        return wire.configure_response(
            STRUCTURES.index(loss.structure),
            loss.dim,
            not loss.convex,
            loss.offers("weights"),
            loss.offers("hessian_product"),
            loss.offers("smooth"),
            self.frame_socket,
        )

    def attach(self, message: bytes) -> bytes:
        """Map a segment of shared memory."""
        segment, path, size = wire.attach_request(message)
        try:
            fd = os.open(path, os.O_RDWR | os.O_CLOEXEC)
            try:
                self._segments[segment] = mmap.mmap(fd, size)
            finally:
                os.close(fd)
        except (OSError, ValueError) as e:
            raise _RefusalError(
                "FAILED_PRECONDITION", f"{path!r} cannot be mapped: {e}"
            ) from e
        return b""

    def detach(self, message: bytes) -> bytes:
        """Unmap a segment."""
        old = self._segments.pop(wire.detach_request(message), None)
        try:
            if old is not None:
                old.close()
        except BufferError:
            pass  # an array of it is still held somewhere; the last one frees it
        return b""

    def evaluate(self, message: bytes) -> bytes:
        """Evaluate what the host wants of a batch."""
        e = wire.evaluate_request(message)
        if self._loss is None:
            raise _RefusalError("FAILED_PRECONDITION", "Evaluate before Configure")
        loss = self._loss
        stretches = e.stretches or [(e.rows, e.eps)]
        if sum(rows for rows, _ in stretches) != e.rows:
            raise _RefusalError(
                "INVALID_ARGUMENT", "the stretches do not add up to the rows"
            )
        places = _Places(e, self._segments.get(e.segment) if e.segment else None)
        residuals = places.input(e.residuals)
        directions = places.input(e.directions) if wire.PRODUCTS in e.want else None
        results = [places.output(_shape(quantity, e, loss)) for quantity in e.want]
        for rows, eps in _blocks(stretches, e.dim):
            # A host asks for lengths only of losses that said they can be smoothed.
            smooth = loss.smooth(eps) if eps > 0 else loss  # type: ignore[attr-defined]
            v = None if directions is None else directions[rows]
            computed = _compute(smooth, e.want, residuals[rows], v)
            for quantity, to in zip(e.want, results, strict=True):
                _fill(to[rows], computed[quantity], quantity)
        return wire.evaluate_response(
            e.rows, [] if e.segment else [r.tobytes() for r in results]
        )


def _blocks(
    stretches: list[tuple[int, float]], dim: int
) -> Iterator[tuple[slice, float]]:
    """Cut stretches into blocks of rows that fit the cache."""
    step, first = max(_BLOCK // max(dim, 1), 1), 0
    for count, eps in stretches:
        end = first + count
        for at in range(first, max(end, first + 1), step):
            yield slice(at, min(at + step, end)), eps
        first = end


def _shape(quantity: int, e: wire.Evaluation, loss: Loss) -> tuple[int, ...]:
    """Return the shape of a result."""
    per_row = quantity == wire.VALUES or (
        quantity == wire.WEIGHTS and loss.structure == "radial"
    )
    return (e.rows,) if per_row or quantity >= wire.PROFILE else (e.rows, e.dim)


def _fill(to: Array, result: Any, quantity: int) -> None:
    if np.shape(result) != to.shape:
        raise _RefusalError(
            "ABORTED",
            f"{_METHODS[quantity]} gave an array of shape {np.shape(result)}, "
            f"want {to.shape}",
        )
    to[...] = result


class _Places:
    """The arrays of an evaluation, one after another in a segment or alone."""

    def __init__(self, e: wire.Evaluation, segment: mmap.mmap | None) -> None:
        if e.segment and segment is None:
            raise _RefusalError(
                "FAILED_PRECONDITION", f"there is no segment {e.segment}"
            )
        self._e, self._segment, self._at = e, segment, 0

    def _next(self, count: int) -> Array:
        assert self._segment is not None
        place = np.frombuffer(
            self._segment, dtype=np.float64, count=count, offset=self._at
        )
        self._at += (8 * count + _ALIGN - 1) // _ALIGN * _ALIGN
        return place

    def input(self, sent: memoryview) -> Array:
        shape = (self._e.rows, self._e.dim)
        if self._segment is not None:
            array = self._next(shape[0] * shape[1])
            array.flags.writeable = False
        else:
            array = np.frombuffer(sent, dtype="<f8").astype(np.float64, copy=False)
        return array.reshape(shape)

    def output(self, shape: tuple[int, ...]) -> Array:
        if self._segment is None:
            return np.empty(shape)
        return self._next(math.prod(shape)).reshape(shape)


_METHODS = {
    wire.VALUES: "evaluate (values)",
    wire.GRADIENTS: "evaluate (gradients)",
    wire.WEIGHTS: "weights",
    wire.PRODUCTS: "hessian_product",
    wire.PROFILE: "profile (value)",
    wire.FIRST: "profile (first derivative)",
    wire.SECOND: "profile (second derivative)",
}


def _compute(
    loss: Any, quantities: list[int], r: Array, v: Array | None
) -> dict[int, Any]:
    """Call the methods of the loss that are needed."""
    results: dict[int, Any] = {}
    want = set(quantities)
    with np.errstate(all="ignore"):
        if want & {wire.VALUES, wire.GRADIENTS}:
            results[wire.VALUES], results[wire.GRADIENTS] = loss.evaluate(r)
        if wire.WEIGHTS in want:
            results[wire.WEIGHTS] = loss.weights(r)
        if wire.PRODUCTS in want:
            results[wire.PRODUCTS] = loss.hessian_product(r, v)
        if want & {wire.PROFILE, wire.FIRST, wire.SECOND}:
            results[wire.PROFILE], results[wire.FIRST], results[wire.SECOND] = (
                loss.profile(r[:, 0])
            )
    return results


_CODES = {"INVALID_ARGUMENT": 3, "FAILED_PRECONDITION": 9, "ABORTED": 10}


def _answer(call: Callable[[bytes], bytes], message: bytes) -> bytes:
    """Make a call; exceptions become refusals, with the place in the log."""
    try:
        return call(message)
    except _RefusalError:
        raise
    except BaseException as e:  # also sys.exit: the host ends plugins
        traceback.print_exc(file=sys.stderr)
        frame = traceback.extract_tb(e.__traceback__)[-1]
        place = f"{Path(frame.filename).name}:{frame.lineno}"
        raise _RefusalError("ABORTED", f"{type(e).__name__}: {e} ({place})") from e


def _handler(grpc: Any, call: Callable[[bytes], bytes]) -> Any:
    def answer(message: bytes, context: Any) -> bytes:
        try:
            return _answer(call, message)
        except _RefusalError as e:
            context.abort(getattr(grpc.StatusCode, e.code), str(e))
        raise AssertionError("abort returns never")

    return grpc.unary_unary_rpc_method_handler(answer)


def _open_frame_socket(path: Path, evaluate: Callable[[bytes], bytes]) -> None:
    """Take calls of Evaluate on a socket, at a tenth of the time of gRPC."""
    listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    listener.bind(str(path))
    listener.listen()

    def accept() -> None:
        while True:
            connection, _ = listener.accept()
            threading.Thread(
                target=_serve_frames, args=(connection, evaluate), daemon=True
            ).start()

    threading.Thread(target=accept, daemon=True).start()


def _serve_frames(
    connection: socket.socket, evaluate: Callable[[bytes], bytes]
) -> None:
    """Answer the frames of a connection, until it ends."""
    with connection:
        while True:
            data = connection.recv(_MAX_FRAME)
            while data and len(data) < 4 + int.from_bytes(data[:4], "little"):
                more = connection.recv(_MAX_FRAME)
                data = data + more if more and len(data) <= _MAX_FRAME else b""
            if not data:
                return
            try:
                code, reply = 0, _answer(evaluate, data[4:])
            except _RefusalError as e:
                code, reply = _CODES[e.code], str(e).encode()[:_MAX_FRAME]
            connection.sendall(struct.pack("<II", len(reply), code) + reply)


def serve(loss: Loss | type[Loss]) -> NoReturn:
    """Serve a loss until the host ends this process.

    Call it last in a plugin. What the plugin prints goes to the log of the
    host.

    Parameters
    ----------
    loss : Loss or subclass of Loss
        The parameters of an instance are the defaults that users see.
    """
    prototype = loss() if isinstance(loss, type) else loss
    check_declaration(prototype)
    if os.environ.get(COOKIE_KEY) != COOKIE_VALUE:
        sys.exit(
            f"{sys.argv[0]} is a plugin: scqm starts it; "
            f"try `scqm plugin check {sys.argv[0]}`"
        )
    try:
        import grpc  # type: ignore[import-untyped,unused-ignore]
    except ModuleNotFoundError:
        sys.exit(
            "the Python package grpcio is missing; run: python -m pip install grpcio"
        )
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch_host, args=(os.getppid(),), daemon=True).start()
    folder = os.environ.get("PLUGIN_UNIX_SOCKET_DIR") or tempfile.mkdtemp(
        prefix="scqm-plugin-"
    )
    address = str(Path(folder) / "loss.sock")
    ended = threading.Event()
    service = Service(prototype, str(Path(folder) / "frame.sock"))
    _open_frame_socket(Path(service.frame_socket), service.evaluate)
    server = grpc.server(
        ThreadPoolExecutor(_THREADS),
        handlers=_services(grpc, service, ended),
        options=[
            ("grpc.max_receive_message_length", -1),
            ("grpc.max_send_message_length", -1),
        ],
    )
    server.add_insecure_port(f"unix:{address}")
    server.start()
    # Nothing but this line is for the host: it may call before print returns.
    sys.stdout.flush()
    host = os.dup(1)
    os.dup2(2, 1)
    os.write(host, f"1|{PROTOCOL}|unix|{address}|grpc|\n".encode())
    os.close(host)
    ended.wait()
    server.stop(grace=0.1).wait()
    sys.stderr.flush()
    os._exit(0)


def _services(grpc: Any, service: Service, ended: threading.Event) -> tuple[Any, ...]:
    def shutdown(_: bytes) -> bytes:
        ended.set()
        return b""

    def health(_: bytes) -> bytes:
        return b"\x08\x01"  # SERVING

    services: dict[str, dict[str, Callable[[bytes], bytes]]] = {
        "scqm.plugin.v1.Loss": service.calls,
        "plugin.GRPCController": {"Shutdown": shutdown},
        "grpc.health.v1.Health": {"Check": health},
    }
    return tuple(
        grpc.method_handlers_generic_handler(
            name, {m: _handler(grpc, call) for m, call in calls.items()}
        )
        for name, calls in services.items()
    )


def _watch_host(parent: int) -> None:
    """End this process when the one that started it is gone."""
    while parent > 1 and os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)
