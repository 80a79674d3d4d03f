"""Settings of all tests, made before anything is imported.

They keep a shell's ignored interrupts and a missing display from deciding tests, and
build the program once for those that compare with it.
"""

import os
import signal
import subprocess
from pathlib import Path

import pytest

# A shell starts background jobs with interrupts ignored, which Python keeps.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The checks of scikit-learn then try arrays of other libraries too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add what the tests of the guide take."""
    parser.addoption(
        "--update", action="store_true", help="write the outputs in docs/guide anew"
    )


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The program scqm, built from these sources."""
    path = tmp_path_factory.mktemp("bin") / "scqm"
    build = ["go", "build", "-buildvcs=false", "-o", str(path), "./cmd/scqm"]
    subprocess.run(build, cwd=Path(__file__).resolve().parents[2], check=True)
    return path
