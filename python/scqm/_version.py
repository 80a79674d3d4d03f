"""The version of the package; that of the Go module is the same."""

__version__ = "0.1.0"
