"""Build scqm: everything but the extension module is in pyproject.toml."""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))
import extension


class BuildWithGo(build_ext):
    """Let Go build the extension module."""

    def build_extension(self, ext: Extension) -> None:
        try:
            extension.build(Path(self.get_ext_fullpath(ext.name)).resolve())
        except extension.BuildError as error:
            raise SystemExit(f"scqm: {error}") from None


class SourceWithNative(sdist):
    """Put the sources that gopy writes into the sdist."""

    def run(self) -> None:
        try:
            if not extension.from_sdist():
                extension.generate()
        except extension.BuildError as error:
            raise SystemExit(f"scqm: {error}") from None
        super().run()


setup(
    ext_modules=[Extension("scqm._core", sources=[], py_limited_api=True)],
    cmdclass={"build_ext": BuildWithGo, "sdist": SourceWithNative},
    # An sdist leaves out the folder of intermediate results, which must not be
    # the one that holds the generated sources.
    options={
        "build": {"build_base": "build/python"},
        "bdist_wheel": {"py_limited_api": "cp310"},
    },
)
