"""The plugin SDK: declarations, messages, checks, and a served plugin.

Plugins are called in this process, or served and spoken to over the protocol, damaged
messages included.
"""

import importlib.machinery
import importlib.util
import json
import math
import os
import re
import signal
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import grpc
import numpy as np
import numpy.typing as npt
import pytest

from scqm.exceptions import LossError
from scqm.plugin import (
    Loss,
    ParameterError,
    PluginNotFoundError,
    check,
    find,
    folders,
    parameter,
)
from scqm.plugin import _wire as wire
from scqm.plugin._server import Service, _answer

Array = npt.NDArray[np.float64]

ROOT = Path(__file__).resolve().parents[2]
EXAMPLE = ROOT / "plugins" / "examples" / "student_t" / "scqm-loss-student_t"


def example() -> Any:
    """Import the example plugin."""
    loader = importlib.machinery.SourceFileLoader("student_t", str(EXAMPLE))
    spec = importlib.util.spec_from_loader("student_t", loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module.StudentT


class Square(Loss):
    """Squares."""

    name = "square"
    factor = parameter(1.0, above=0, doc="factor")

    def evaluate(self, r: Array) -> tuple[Array, Array]:
        return self.factor * (r * r).sum(axis=1), 2 * self.factor * r


def test_parameters_are_checked() -> None:
    class Knobs(Loss):
        name = "knobs"
        a = parameter(1.0, above=0, below=2)
        n = parameter(3, at_least=1, at_most=9)
        mode = parameter("x", choices=["x", "y"])
        fast = parameter(False)

        def evaluate(self, r: Array) -> tuple[Array, Array]:
            return r[:, 0], r

    knobs = Knobs(a=1, n=4.0, mode="y")
    assert (knobs.a, knobs.n, knobs.mode, knobs.fast) == (1.0, 4, "y", False)
    assert isinstance(knobs.n, int)
    for bad in (
        {"a": 0.0},
        {"a": 2.0},
        {"a": math.nan},
        {"a": "1"},
        {"a": True},
        {"n": 0},
        {"n": 10},
        {"n": 1.5},
        {"mode": "z"},
        {"fast": 1},
        {"none": 1},
    ):
        with pytest.raises(ParameterError, match=next(iter(bad))):
            Knobs(**bad)
    with pytest.raises(TypeError):
        parameter([1.0])  # type: ignore[arg-type]


def test_declarations_are_checked() -> None:
    def declare(**members: Any) -> Any:
        return type("Wrong", (Square,), members)

    for members, says in (
        ({"name": "Big"}, "name"),
        ({"structure": "round"}, "structure"),
        ({"structure": "radial"}, "must define profile"),
        ({"evaluate": Loss.evaluate}, "must define evaluate"),
    ):
        with pytest.raises(TypeError, match=says):
            check(declare(**members))


def test_the_example_is_student_t() -> None:
    stats = example()(nu=3.0, sigma=0.5)
    r = np.random.default_rng(0).normal(size=(20, 4))
    values, gradients = stats.evaluate(r)
    density = (1 + (r / 0.5) ** 2 / 3) ** -2
    np.testing.assert_allclose(values, -np.log(density).sum(axis=1), rtol=1e-12)
    h = 1e-6
    np.testing.assert_allclose(
        gradients[:, 0],
        (
            stats.evaluate(r + h * np.eye(4)[0])[0]
            - stats.evaluate(r - h * np.eye(4)[0])[0]
        )
        / 2
        / h,
        rtol=1e-7,
    )
    own = [
        line
        for line in EXAMPLE.read_text().split("class StudentT")[1].splitlines()
        if line.strip()
    ]
    assert len(own) < 40


def test_good_losses_pass() -> None:
    for loss in (Square, Square(factor=3.0), example()):
        report = check(loss)
        assert report.ok, str(report)


@pytest.mark.parametrize(
    ("law", "evaluate"),
    [
        ("finite", lambda _, r: (r[:, 0] / 0, r)),
        ("not negative", lambda _, r: (-(r * r).sum(axis=1), -2 * r)),
        ("gradient slope", lambda _, r: (np.square(r, out=r).sum(axis=1), r)),
        (
            "batch equals single",
            lambda _, r: ((r * r).sum(axis=1) + len(r) * 1e-6, 2 * r),
        ),
        ("gradient slope", lambda _, r: ((r * r).sum(axis=1), 2.02 * r)),
        ("zero residual", lambda _, r: ((r * r).sum(axis=1), 2 * r * r / r)),
        (
            "convex",
            lambda _, r: (
                np.sqrt(np.abs(r)).sum(axis=1),
                np.sign(r) / 2 / np.sqrt(np.abs(r) + 1e-300),
            ),
        ),
    ],
)
def test_check_finds_wrong_losses(law: str, evaluate: Any) -> None:
    report = check(type("Wrong", (Square,), {"evaluate": evaluate}))
    assert law in report.broken, str(report)


def test_check_names_wrong_shapes() -> None:
    wrong = type("Wrong", (Square,), {"evaluate": lambda _, r: (r, r)})
    with pytest.raises(LossError, match="loss square: values has shape"):
        check(wrong)


def test_check_finds_wrong_extras() -> None:
    class Wrong(Square):
        structure = "separable"

        def profile(self, x: Array) -> tuple[Array, Array, Array]:
            return x * x, 2 * x, x

        def weights(self, r: Array) -> Array:
            return np.ones_like(r)

        def hessian_product(self, r: Array, v: Array) -> Array:
            return v

    assert {"separable slopes", "majorizer", "Hessian slope"} <= set(
        check(Wrong).broken
    )


def varint(n: int) -> bytes:
    out = b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def evaluate_message(
    r: Array, want: list[int], eps: float = 0.0, packed: bool = True
) -> bytes:
    rows, dim = r.shape
    message = b"\x08" + varint(rows) + b"\x10" + varint(dim)
    if eps:
        message += b"\x19" + struct.pack("<d", eps)
    if packed:
        message += b"\x22" + varint(len(want)) + bytes(want)
    else:
        message += b"".join(b"\x20" + bytes([q]) for q in want)
    data = r.astype("<f8").tobytes()
    return message + b"\x32" + varint(len(data)) + data


def results_of(reply: bytes) -> tuple[Any, list[Array]]:
    fields = list(wire._fields(reply))
    results = [value for number, value in fields if number == 2]
    return fields[0][1], [np.frombuffer(bytes(r), "<f8") for r in results]


@pytest.mark.parametrize("packed", [True, False])
def test_evaluation_in_bytes(packed: bool) -> None:
    service = Service(Square())
    service.configure(b"\x0a\x0f" + b'{"factor": 2.0}')
    r = np.random.default_rng(1).normal(size=(300, 3))
    rows, (gradients, values) = results_of(
        service.evaluate(
            evaluate_message(r, [wire.GRADIENTS, wire.VALUES], packed=packed)
        )
    )
    assert rows == 300
    np.testing.assert_array_equal(values, 2 * (r * r).sum(axis=1))
    np.testing.assert_array_equal(gradients.reshape(r.shape), 4 * r)


def test_damaged_messages_are_errors() -> None:
    good = evaluate_message(np.ones((2, 2)), [wire.VALUES])
    service = Service(Square())
    service.configure(b"")
    for cut in (1, 3, len(good) - 1):
        with pytest.raises(ValueError, match=r"damaged|reshape|buffer"):
            service.evaluate(good[:cut])
    with pytest.raises(ValueError, match="damaged"):
        wire.evaluate_request(b"\x08" + b"\xff" * 11)


def environment(**env: str) -> dict[str, str]:
    """The environment of a plugin, in which python3 is this interpreter."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return (
        os.environ
        | {
            "SCQM_PLUGIN_COOKIE": "loss",
            "PYTHONPATH": str(ROOT / "python"),
            "PATH": path,
        }
        | env
    )


class Served:
    """A plugin, started as any host would."""

    def __init__(self, path: Path, folder: Path, **env: str) -> None:
        self.process = subprocess.Popen(
            [path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment(PLUGIN_UNIX_SOCKET_DIR=str(folder), **env),
        )
        assert self.process.stdout is not None
        self.line = self.process.stdout.readline().strip()
        if self.line:
            self.channel = grpc.insecure_channel("unix:" + self.line.split("|")[3])

    def call(
        self, method: str, message: bytes = b"", service: str = "scqm.plugin.v1.Loss"
    ) -> Any:
        return self.channel.unary_unary(f"/{service}/{method}")(message, timeout=10)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *_: object) -> None:
        self.process.kill()
        self.process.communicate()


def test_a_served_plugin(tmp_path: Path) -> None:
    with Served(EXAMPLE, tmp_path) as plugin:
        core, version, network, address, transport, _ = plugin.line.split("|")
        assert (core, version, network, transport) == ("1", "1", "unix", "grpc")
        assert Path(address).parent == tmp_path
        assert (
            plugin.call("Check", b"\x0a\x06plugin", service="grpc.health.v1.Health")
            == b"\x08\x01"
        )
        described = [
            bytes(value).decode() for _, value in wire._fields(plugin.call("Describe"))
        ]
        assert described[0] == "student_t"
        schema = json.loads(described[-1])
        assert schema["properties"]["nu"]["exclusiveMinimum"] == 0
        plugin.process.send_signal(signal.SIGINT)  # Ctrl-C is for the host
        offer = dict(wire._fields(plugin.call("Configure")))
        assert Path(bytes(offer.pop(7)).decode()).parent == tmp_path
        assert offer == {1: 2, 3: 1, 4: 1}
        r = np.random.default_rng(2).normal(size=(5, 2))
        _, (values,) = results_of(
            plugin.call("Evaluate", evaluate_message(r, [wire.VALUES]))
        )
        np.testing.assert_allclose(values, example()().evaluate(r)[0], rtol=1e-15)
        with pytest.raises(grpc.RpcError) as refused:
            plugin.call("Configure", b"\x0a\x0b" + b'{"nu": 0.0}')
        assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
        assert refused.value.details() == "nu = 0.0 is not above 0.0"
        plugin.call("Shutdown", service="plugin.GRPCController")
        assert plugin.process.wait(5) == 0


def test_the_second_socket_takes_the_frames_of_the_specification(
    tmp_path: Path,
) -> None:
    text = (ROOT / "docs" / "plugin-protocol.md").read_text(encoding="utf-8")
    found = re.search(r"request `([0-9a-f ]+)`,\s+reply `([0-9a-f ]+)`", text)
    assert found is not None
    request, reply = (bytes.fromhex(frame) for frame in found.groups())
    rows = np.random.default_rng(3).normal(size=(3, 2))
    segment = tmp_path / "segment"
    segment.write_bytes(rows.tobytes().ljust(256, b"\0"))
    with Served(EXAMPLE, tmp_path) as plugin:
        offer = dict(wire._fields(plugin.call("Configure")))
        path = str(segment).encode()
        plugin.call(
            "Attach",
            b"\x08\x01\x12" + bytes([len(path)]) + path + b"\x18\x80\x02",
        )
        with socket.socket(socket.AF_UNIX) as frames:
            frames.settimeout(10)
            frames.connect(bytes(offer[7]))
            for byte in request:  # in as many pieces as there can be
                frames.send(bytes([byte]))
            assert frames.recv(512) == reply
            frames.sendall(b"\x02\0\0\0\x28\x07")  # another segment
            length, code = struct.unpack("<II", frames.recv(8))
            assert (code, frames.recv(512)) == (9, b"there is no segment 7")
            assert length == 21
        data = segment.read_bytes()
    values, gradients = example()().evaluate(rows)
    assert data[64:88] == values.tobytes()
    assert data[128:176] == gradients.tobytes()


def test_large_batches_are_scored_in_blocks() -> None:
    seen = []

    class Watched(Square):
        def evaluate(self, r: Array) -> tuple[Array, Array]:
            seen.append(r.shape)
            values, gradients = super().evaluate(r)
            return values[:, None] if len(seen) == 5 else values, gradients

    service = Service(Watched())
    service.configure(b"")
    r = np.random.default_rng(4).normal(size=(5000, 7))
    wanted = [wire.GRADIENTS, wire.VALUES]
    _, (gradients, values) = results_of(service.evaluate(evaluate_message(r, wanted)))
    assert len(seen) == 3
    assert sum(rows for rows, _ in seen) == 5000
    np.testing.assert_array_equal(values, (r * r).sum(axis=1))
    np.testing.assert_array_equal(gradients, (2 * r).ravel())
    with pytest.raises(Exception, match=r"values.*shape \(2340, 1\), want \(2340,\)"):
        service.evaluate(evaluate_message(r, wanted))


def test_rows_of_one_request_can_be_smoothed_over_different_lengths() -> None:
    class Rounded(Square):
        eps = 0.0

        def smooth(self, eps: float) -> Loss:
            smooth = Rounded(factor=self.factor)
            smooth.eps = eps
            return smooth

        def evaluate(self, r: Array) -> tuple[Array, Array]:
            values, gradients = super().evaluate(r)
            return values + self.eps, gradients

    service = Service(Rounded())
    service.configure(b"")
    r = np.zeros((4000, 7))
    message = evaluate_message(r, [wire.VALUES])
    stretches = ((1000, 0.0), (0, 9.0), (2999, 0.5), (1, 2.0))
    for rows, eps in stretches:
        part = wire._number(1, rows) + b"\x11" + struct.pack("<d", eps)
        message += wire._chunk(8, part)
    _, (values,) = results_of(service.evaluate(message))
    np.testing.assert_array_equal(
        values, np.concatenate([np.full(rows, eps) for rows, eps in stretches])
    )
    with pytest.raises(Exception, match="do not add up"):
        service.evaluate(message + wire._chunk(8, b"\x08\x01"))


def test_a_loss_that_exits_is_told_of() -> None:
    class Quitter(Square):
        def evaluate(self, r: Array) -> tuple[Array, Array]:
            sys.exit(3)

    service = Service(Quitter())
    service.configure(b"")
    with pytest.raises(Exception, match=r"SystemExit: 3 \(test_plugin.py:"):
        _answer(service.evaluate, evaluate_message(np.ones((1, 1)), [wire.VALUES]))


def test_exceptions_of_a_loss_are_told(tmp_path: Path) -> None:
    path = tmp_path / "scqm-loss-broken"
    path.write_text(
        f"#!{sys.executable}\nfrom scqm.plugin import Loss, serve\nclass B(Loss):\n name = 'b'\n"
        " def evaluate(self, r):\n  print('here')\n  return r.no_such_thing\nserve(B)\n"
    )
    path.chmod(0o755)
    with Served(path, tmp_path) as plugin:
        plugin.call("Configure")
        with pytest.raises(grpc.RpcError) as failed:
            plugin.call("Evaluate", evaluate_message(np.ones((1, 1)), [wire.VALUES]))
        assert "no_such_thing" in failed.value.details()
        assert "scqm-loss-broken:7" in failed.value.details()
        plugin.process.kill()
        out, err = plugin.process.communicate()
        assert "here" not in out
        assert "Traceback" in err


def test_a_plugin_started_by_hand_explains_itself(tmp_path: Path) -> None:
    with Served(EXAMPLE, tmp_path, SCQM_PLUGIN_COOKIE="") as plugin:
        assert plugin.line == ""
        assert "is a plugin" in plugin.process.stderr.read()
        assert plugin.process.wait(5) == 1


def test_a_plugin_ends_with_its_host(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys; p = subprocess.Popen([sys.argv[1]], stdout=subprocess.PIPE, text=True);"
        "print(p.stdout.readline().strip(), p.pid, flush=True)"
    )
    env = environment(PLUGIN_UNIX_SOCKET_DIR=str(tmp_path))
    out = subprocess.run(
        [sys.executable, "-c", code, EXAMPLE],
        env=env,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout
    line, pid = out.split()
    assert line.startswith("1|1|unix|")
    for _ in range(100):
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return
        time.sleep(0.05)
    pytest.fail("the plugin outlives its host")


def test_find(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "scqm-loss-mine"
    path.write_text("")
    monkeypatch.setenv("SCQM_PLUGIN_PATH", f"{tmp_path / 'none'}{os.pathsep}{tmp_path}")
    assert folders()[1] == tmp_path
    assert find("mine") == path
    assert find(str(path)) == path
    for missing in ("yours", str(tmp_path / "yours")):
        with pytest.raises(PluginNotFoundError, match="yours"):
            find(missing)
