"""Memory that is not there ends in MemoryError, and the interpreter lives on.

Each case is an interpreter of its own under a limit: it must end in an exception of
Python, not in an abort of the Go runtime.
"""

import os
import subprocess
import sys

import pytest

CEILING = """
import numpy as np
import scqm
rng = np.random.default_rng(0)
x = rng.random((200_000, 10))
try:
    scqm.SCQM(2).fit(x)
except MemoryError as error:
    assert isinstance(error, scqm.exceptions.MemoryLimitError), error
    print(error)
print(scqm.SCQM(2, max_iter=3, tol=10).fit(x[:300]).n_iter_ > 0)
"""


def run(code: str, limit: str = ":", **env: str) -> subprocess.CompletedProcess[str]:
    """Run Python code after a shell command that sets a limit."""
    return subprocess.run(
        ["bash", "-c", f'{limit}; exec "$@"', "bash", sys.executable, "-c", code],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **env},
        capture_output=True,
        text=True,
        check=False,
    )


def test_ceiling() -> None:
    done = run(CEILING, SCQM_MEMORY="32M")
    assert done.returncode == 0, done.stderr
    message, after = done.stdout.splitlines()
    assert "200000 rows of 10 columns take about" in message
    assert "is left by SCQM_MEMORY (32 MiB)" in message
    assert after == "True"


def test_ceiling_that_is_no_size() -> None:
    done = run("import scqm; scqm.SCQM", SCQM_MEMORY="much")
    assert done.returncode == 1
    assert "InputError: SCQM_MEMORY=much: want a size such as 512M" in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="limits are read on Linux only")
def test_too_little_to_load_the_library() -> None:
    code = "import scqm\ntry:\n    scqm.SCQM\nexcept MemoryError as e:\n    print(e)"
    done = run(code, "ulimit -v 1000000")
    assert done.returncode == 0, done.stderr
    assert "MiB to load its libraries" in done.stdout
    assert "address space (ulimit -v)" in done.stdout


@pytest.mark.skipif(sys.platform != "linux", reason="limits are read on Linux only")
def test_too_little_to_import_scikit_learn() -> None:
    """SciPy's OpenBLAS would try for ever to get its buffers."""
    code = """
import resource
import numpy, scqm
pages = int(open("/proc/self/statm").read().split()[0])
room = pages * resource.getpagesize() + (60 << 20)
resource.setrlimit(resource.RLIMIT_AS, (room, resource.RLIM_INFINITY))
try:
    scqm.SCQM
except MemoryError as e:
    print(e)
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)
print(scqm.SCQM(1, max_iter=2, tol=10).fit(numpy.eye(4)).n_iter_ > 0)
"""
    done = run(code)
    assert done.returncode == 0, done.stderr
    assert "MiB to load its libraries" in done.stdout
    assert done.stdout.endswith("True\n")
