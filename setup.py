"""Build scqm: everything but the extension module is in pyproject.toml.

The commands of setuptools are told here to let Go build the extension module, to put
its generated sources into the sdist, and to level the files of the wheel.
"""

import sys
from pathlib import Path

from setuptools import Extension, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_ext import build_ext
from setuptools.command.sdist import sdist

sys.path.insert(0, str(Path(__file__).resolve().parent / "python"))
import distribution
import extension


class BuildWithGo(build_ext):
    """Let Go build the extension module."""

    def build_extension(self, ext: Extension) -> None:
        target = Path(self.get_ext_fullpath(ext.name)).resolve()
        try:
            extension.build(target)
            extension.build_guard(target.with_name(extension.GUARD))
        except extension.BuildError as error:
            raise SystemExit(f"scqm: {error}") from None

    def copy_extensions_to_source(self) -> None:
        super().copy_extensions_to_source()
        module = self.extensions[0].name
        built = Path(self.build_lib, *module.split(".")).with_name(extension.GUARD)
        package = self.get_finalized_command("build_py").get_package_dir("scqm")
        if built.exists():
            self.copy_file(str(built), str(Path(package, extension.GUARD)))


class SourceWithNative(sdist):
    """Put the sources that gopy writes into the sdist."""

    def run(self) -> None:
        try:
            if not extension.from_sdist():
                extension.generate()
        except extension.BuildError as error:
            raise SystemExit(f"scqm: {error}") from None
        super().run()

    def make_archive(self, base_name: str, *_args: object, **named: object) -> str:
        archive = Path(f"{base_name}.tar.gz")
        archive.parent.mkdir(parents=True, exist_ok=True)
        distribution.write_sdist(archive, Path(str(named["base_dir"])).resolve())
        return str(archive)


class WheelWithBill(bdist_wheel):
    """Put the list of its contents into the wheel, and level its files."""

    def write_wheelfile(self, wheelfile_base: str, *args: str, **named: str) -> None:
        super().write_wheelfile(wheelfile_base, *args, **named)
        try:
            distribution.finish_wheel(Path(wheelfile_base))
        except extension.BuildError as error:
            raise SystemExit(f"scqm: {error}") from None


setup(
    long_description=distribution.description(),
    long_description_content_type="text/markdown",
    ext_modules=[Extension("scqm._core", sources=[], py_limited_api=True)],
    cmdclass={
        "bdist_wheel": WheelWithBill,
        "build_ext": BuildWithGo,
        "sdist": SourceWithNative,
    },
    # An sdist leaves out the folder of intermediate results, which must not be
    # the one that holds the generated sources.
    options={
        "build": {"build_base": "build/python"},
        "bdist_wheel": {"py_limited_api": "cp310"},
    },
)
