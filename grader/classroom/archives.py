"""Files inside an archive, bounded before anything is unpacked; nothing is ever written to disk."""

from __future__ import annotations

import tarfile
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path, PurePosixPath

from grader.intake.limits import MAX_FILE_BYTES
from grader.support.i18n import _

SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar")
MAX_MEMBERS = 2000
MAX_TOTAL = 64 << 20

Reader = Callable[[], bytes]


class BadArchive(ValueError):
    """The archive cannot be used; the message is a sentence without its name."""


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def members(path: Path) -> dict[PurePosixPath, Reader]:
    """The plain files of an archive by their place in it. Raises BadArchive.

    Links, devices and places outside the archive are refused; sizes are those that the archive announces,
    and a member that is longer than it says is cut off when it is read.
    """
    try:
        listed = list(_zipped(path) if path.name.lower().endswith(".zip") else _tarred(path))
    except (
        OSError,
        EOFError,
        ValueError,
        NotImplementedError,
        zipfile.BadZipFile,
        tarfile.TarError,
    ) as error:
        if isinstance(error, BadArchive):
            raise
        raise BadArchive(_("cannot be read as an archive")) from None
    return {place: reader for place, _size, reader in listed}


def _zipped(path: Path) -> Iterator[tuple[PurePosixPath, int, Reader]]:
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
        _bound([info.file_size for info in infos])
        for info in infos:
            is_link = info.external_attr >> 28 == 0xA
            if not info.is_dir() and not is_link:
                yield _place(info.filename), info.file_size, _from_zip(path, info.filename)


def _from_zip(path: Path, name: str) -> Reader:
    def read() -> bytes:
        try:
            with zipfile.ZipFile(path) as archive, archive.open(name) as file:
                return file.read(MAX_FILE_BYTES + 1)
        except (
            RuntimeError,
            zipfile.BadZipFile,
            EOFError,
            NotImplementedError,
        ) as error:  # RuntimeError: it wants a password
            raise OSError(str(error)) from None

    return read


def _tarred(path: Path) -> Iterator[tuple[PurePosixPath, int, Reader]]:
    sizes: list[int] = []
    with tarfile.open(path) as archive:
        for info in archive:
            sizes.append(info.size)
            _bound(sizes)
            if info.isfile():
                yield _place(info.name), info.size, _from_tar(path, info.name)


def _from_tar(path: Path, name: str) -> Reader:
    def read() -> bytes:
        try:
            with tarfile.open(path) as archive:
                file = archive.extractfile(name)
                return file.read(MAX_FILE_BYTES + 1) if file else b""
        except (tarfile.TarError, KeyError, EOFError) as error:
            raise OSError(str(error)) from None

    return read


def _bound(sizes: list[int]) -> None:
    if len(sizes) > MAX_MEMBERS:
        raise BadArchive(_("holds more than {n} files").format(n=MAX_MEMBERS))
    if sum(sizes) > MAX_TOTAL:
        raise BadArchive(_("holds more than {n} MiB").format(n=MAX_TOTAL >> 20))


def _place(name: str) -> PurePosixPath:
    place = PurePosixPath(name.replace("\\", "/"))
    if (
        place.is_absolute()
        or ".." in place.parts
        or "\0" in name
        or (place.parts and place.parts[0].endswith(":"))
    ):
        raise BadArchive(_("names a place outside itself"))
    return place
