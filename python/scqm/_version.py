"""The version of the package; that of the Go module is the same.

It is apart so that building the wheel can read it without the library.
"""

__version__ = "0.2.0"
