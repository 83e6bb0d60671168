"""Read the gradable files of an archive in one pass, with limits on all sizes and counts.

Nothing is written to disk. An archive may hold 2,000 members, 64 MiB when unpacked, and 50 files that can be graded.
The message of a BadData is a clause that does not name the file.
"""

from __future__ import annotations

import gzip
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO

from grader.intake.read import KINDS, MAX_FILE_BYTES, WEIGHTS
from grader.support.errors import BadData
from grader.support.files import open_regular
from grader.support.i18n import _

SUFFIXES = (".zip", ".tar.gz", ".tgz", ".tar")
MAX_MEMBERS = 2000
MAX_TOTAL = 64 << 20  # bytes, unpacked
MAX_GRADABLE = 50
MAX_EXTENSION = 64 << 10  # bytes of a long name or of other fields before a member of a tar file

_LINK = 0xA  # the file type of a symbolic link, in the upper four bits of a zip member's attributes


def is_archive(path: Path) -> bool:
    return path.name.lower().endswith(SUFFIXES)


def members(path: Path) -> dict[PurePosixPath, str]:
    """Return the gradable files of an archive: path in it → why it cannot be read, "" if it can. Raises BadData.

    If a member of a zip file cannot be unpacked, only its own entry has a problem. A tar file with such a member
    raises BadData. Links, devices, sparse files and paths with a part that begins with "." or "__" are left out.
    """
    found: dict[PurePosixPath, str] = {}
    for place, content in _contents(path):
        found[place] = str(content) if isinstance(content, BadData) else ""
        if len(found) > MAX_GRADABLE:
            raise BadData(_("holds more than {n} files that can be graded").format(n=MAX_GRADABLE))
    return found


def read_member(path: Path, place: PurePosixPath) -> bytes:
    """Return the content of one gradable file; of several with the same path, the last. Raises BadData."""
    content: bytes | BadData = BadData(_("no longer contains this file"))
    for found, candidate in _contents(path):
        content = candidate if found == place else content
    if isinstance(content, BadData):
        raise content
    return content


def _contents(path: Path) -> Iterator[tuple[PurePosixPath, bytes | BadData]]:
    reader = _zip_contents if path.name.lower().endswith(".zip") else _tar_contents
    try:
        yield from reader(path)
    except (BadData, MemoryError):
        raise
    except Exception:  # these libraries raise dozens of kinds for a broken file
        raise BadData(_("cannot be read as an archive")) from None


def _zip_contents(path: Path) -> Iterator[tuple[PurePosixPath, bytes | BadData]]:
    if path.stat().st_size > MAX_TOTAL:
        raise _too_large()
    with open_regular(path) as file, zipfile.ZipFile(file) as archive:
        infos = archive.infolist()
        _check_count(len(infos))
        if sum(info.file_size for info in infos) > MAX_TOTAL:
            raise _too_large()
        for info in infos:
            if info.is_dir() or info.external_attr >> 28 == _LINK:
                continue
            place = _place(info.filename)
            if _is_gradable(place):
                yield place, _unzipped(archive, info)


def _unzipped(archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> bytes | BadData:
    """Return a member's content, or why it cannot be read.

    At most MAX_FILE_BYTES + 1 bytes are read: enough to refuse the file later.
    For stored and deflated members, `zipfile` stops at the size in the header. It unpacks other methods without a
    limit, so they are refused.
    """
    if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        return BadData(_("is compressed with a method other than deflate"))
    if info.flag_bits & 1:
        return BadData(_("needs a password"))
    try:
        with archive.open(info) as file:
            return file.read(MAX_FILE_BYTES + 1)
    except MemoryError:
        raise
    except Exception:  # zlib.error, BadZipFile, EOFError, OSError, NotImplementedError, …
        return BadData(_("cannot be unpacked"))


class _Counted:
    """A stream that raises BadData after MAX_TOTAL unpacked bytes, whatever sizes the headers announce."""

    def __init__(self, file: IO[bytes]):
        self._file = file
        self._left = MAX_TOTAL

    def read(self, size: int) -> bytes:
        data = self._file.read(min(size, self._left + 1))
        self._left -= len(data)
        if self._left < 0:
            raise _too_large()
        return data


class _BoundedInfo(tarfile.TarInfo):
    """A header of a tar file. Limits the size of members that are not plain files.

    `tarfile` makes every header with `frombuf`, also those of long names and of other fields.
    """

    @classmethod
    def frombuf(cls, buf: bytes | bytearray, encoding: str, errors: str) -> _BoundedInfo:
        info = super().frombuf(buf, encoding, errors)
        if not info.isreg() and info.size > MAX_EXTENSION:
            raise BadData(_("holds a name of more than {n} KiB").format(n=MAX_EXTENSION >> 10))
        return info


def _tar_contents(path: Path) -> Iterator[tuple[PurePosixPath, bytes | BadData]]:
    with open_regular(path) as file:
        packed = file.read(2) == b"\x1f\x8b"
        file.seek(0)
        stream = _Counted(gzip.GzipFile(fileobj=file) if packed else file)  # type: ignore[arg-type]
        with tarfile.open(fileobj=stream, mode="r|", tarinfo=_BoundedInfo) as archive:  # type: ignore[call-overload]
            for number, info in enumerate(archive, 1):
                _check_count(number)
                if not info.isfile():
                    continue
                place = _place(info.name)
                if not info.issparse() and _is_gradable(place):
                    content = archive.extractfile(info)
                    yield place, content.read(MAX_FILE_BYTES + 1) if content else b""


def _check_count(count: int) -> None:
    if count > MAX_MEMBERS:
        raise BadData(_("holds more than {n} files").format(n=MAX_MEMBERS))


def _too_large() -> BadData:
    return BadData(_("holds more than {n} MiB").format(n=MAX_TOTAL >> 20))


def _is_gradable(place: PurePosixPath) -> bool:
    return place.suffix in (*KINDS, WEIGHTS) and not any(part.startswith((".", "__")) for part in place.parts)


def _place(name: str) -> PurePosixPath:
    """Return the path of a member in its archive. Raises BadData for a path that leaves the archive."""
    place = PurePosixPath(name.replace("\\", "/"))
    if (
        place.is_absolute()
        or ".." in place.parts
        or "\0" in name
        or (place.parts and place.parts[0].endswith(":"))  # a drive of Windows
    ):
        raise BadData(_("contains a path outside the archive"))
    return place
