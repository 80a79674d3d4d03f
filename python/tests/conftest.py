"""Settings of all tests, made before anything is imported."""

import os
import signal

# A shell starts background jobs with interrupts ignored, which Python keeps.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# The checks of scikit-learn then try arrays of other libraries too.
os.environ.setdefault("SCIPY_ARRAY_API", "1")
os.environ.setdefault("MPLBACKEND", "Agg")
