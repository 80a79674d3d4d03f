"""The messages of protocol v1, in the wire format of Protocol Buffers.

They are few and flat, so that plugins need no generated code, whose version
would have to match the protobuf package of the user.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5

# Quantities of an evaluation.
VALUES, GRADIENTS, WEIGHTS, PRODUCTS, PROFILE, FIRST, SECOND = range(1, 8)


def _read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if at >= len(data) or shift > 63:
            raise ValueError("the message is damaged")
        byte = data[at]
        value |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return value, at


def _fields(message: bytes | memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """Yield the number and the value of every field."""
    data, at = memoryview(message), 0
    while at < len(data):
        tag, at = _read_varint(data, at)
        number, kind = tag >> 3, tag & 7
        if kind == _VARINT:
            value, at = _read_varint(data, at)
            yield number, value
            continue
        size = {_FIXED64: 8, _FIXED32: 4}.get(kind)
        if kind == _BYTES:
            size, at = _read_varint(data, at)
        if size is None or at + size > len(data):
            raise ValueError("the message is damaged")
        yield number, data[at : at + size]
        at += size


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _number(field_number: int, value: int) -> bytes:
    return _varint(field_number << 3 | _VARINT) + _varint(value) if value else b""


def _text(field_number: int, value: str) -> bytes:
    return _chunk(field_number, value.encode()) if value else b""


def _chunk(field_number: int, value: bytes) -> bytes:
    return _varint(field_number << 3 | _BYTES) + _varint(len(value)) + value


def describe_response(
    name: str, version: str, summary: str, formula: str, schema: str
) -> bytes:
    """Encode DescribeResponse."""
    return b"".join(
        _text(i, s) for i, s in enumerate((name, version, summary, formula, schema), 1)
    )


def configure_request(message: bytes) -> str:
    """Decode ConfigureRequest: the parameters."""
    return "".join(
        bytes(v).decode()
        for number, v in _fields(message)
        if number == 1 and isinstance(v, memoryview)
    )


def configure_response(
    structure: int,
    dim: int,
    non_convex: bool,
    weights: bool,
    products: bool,
    smooth: bool,
    frame_socket: str = "",
) -> bytes:
    """Encode ConfigureResponse."""
    numbers = (structure, dim, non_convex, weights, products, smooth)
    return b"".join(_number(i, int(v)) for i, v in enumerate(numbers, 1)) + _text(
        7, frame_socket
    )


def attach_request(message: bytes) -> tuple[int, str, int]:
    """Decode AttachRequest: segment, path and bytes."""
    segment, path, size = 0, "", 0
    for number, value in _fields(message):
        if isinstance(value, memoryview):
            path = bytes(value).decode() if number == 2 else path
        elif number == 1:
            segment = value
        elif number == 3:
            size = value
    return segment, path, size


def detach_request(message: bytes) -> int:
    """Decode DetachRequest: the segment."""
    return attach_request(message)[0]


@dataclass
class Evaluation:
    """EvaluateRequest."""

    rows: int = 0
    dim: int = 0
    eps: float = 0.0
    want: list[int] = field(default_factory=list)
    segment: int = 0
    stretches: list[tuple[int, float]] = field(default_factory=list)
    residuals: memoryview = field(default_factory=lambda: memoryview(b""))
    directions: memoryview = field(default_factory=lambda: memoryview(b""))


def _stretch(message: memoryview) -> tuple[int, float]:
    rows, eps = 0, 0.0
    for number, value in _fields(message):
        if isinstance(value, int):
            rows = value if number == 1 else rows
        elif number == 2:
            (eps,) = struct.unpack("<d", value)
    return rows, eps


def evaluate_request(message: bytes) -> Evaluation:
    """Decode EvaluateRequest."""
    e = Evaluation()
    for number, value in _fields(message):
        if isinstance(value, int):
            if number == 4:
                e.want.append(value)
            else:
                setattr(e, {1: "rows", 2: "dim", 5: "segment"}.get(number, "_"), value)
        elif number == 3:
            (e.eps,) = struct.unpack("<d", value)
        elif number == 4:
            at = 0
            while at < len(value):
                quantity, at = _read_varint(value, at)
                e.want.append(quantity)
        elif number == 6:
            e.residuals = value
        elif number == 7:
            e.directions = value
        elif number == 8:
            e.stretches.append(_stretch(value))
    return e


def evaluate_response(rows: int, results: list[bytes]) -> bytes:
    """Encode EvaluateResponse."""
    return _number(1, rows) + b"".join(_chunk(2, r) for r in results)
