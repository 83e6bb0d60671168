"""Archives that cost a careless reader much time or memory, or that are broken. A function per archive writes it."""

import gzip
import io
import struct
import tarfile
import zipfile

MIB = 1 << 20
ANSWER = "def masked_softmax(X, valid_lens=None):\n    return X\n"


def zip_of(path, files, method=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", method) as archive:
        for name, data in files.items():
            archive.writestr(name, data)


def edited(path, old, new):
    path.write_bytes(path.read_bytes().replace(old, new))


def bzip2_member(path):
    """Write a member of 256 MiB, packed with bzip2, whose header claims 1000 bytes."""
    zip_of(path, {"answer.py": bytes(256 * MIB)}, zipfile.ZIP_BZIP2)
    size = struct.pack("<L", 256 * MIB)
    edited(path, size, struct.pack("<L", 1000))


def broken_deflate(path):
    """Write a member whose compressed bytes are invalid, and an intact one."""
    zip_of(path, {"broken.py": "x = 1\n" * 20, "answer.py": ANSWER})
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("broken.py")
        # The header of a member has 30 bytes and its name.
        start, size = info.header_offset + 30 + len("broken.py"), info.compress_size
    data = bytearray(path.read_bytes())
    data[start : start + size] = b"\xff" * size
    path.write_bytes(data)


def wrong_checksum(path):
    zip_of(path, {"answer.py": ANSWER}, zipfile.ZIP_STORED)
    edited(path, b"return X", b"return Y")


def password(path):
    """Write a zip with the bit for encryption set in both headers of its member."""
    zip_of(path, {"answer.py": ANSWER})
    data = bytearray(path.read_bytes())
    for mark, at in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + at] |= 1
    path.write_bytes(data)


def swelling_zip(path):
    zip_of(path, {f"{n}.py": b" " * (8 * MIB) for n in range(9)})


def many_members_zip(path):
    zip_of(path, {f"{n}.txt": "" for n in range(2001)})


def many_answers_zip(path):
    zip_of(path, {f"{n}.py": ANSWER for n in range(51)})


def empty_entries(path):
    """Write a zip whose central directory has a million entries, but no data of any member."""
    entry = struct.pack("<4s4B4HL2L5H2L", b"PK\1\2", 20, 0, 20, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)
    count = 1_000_000
    size = count * (len(entry) + 1)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, count & 0xFFFF, count & 0xFFFF, size, 0, 0)
    path.write_bytes((entry + b"a") * count + end)


def _tar_header(kind, size, name="long"):
    info = tarfile.TarInfo(name)
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def _long_field(kind, size):
    """Return a function that writes a tar whose header of type `kind` announces `size` zero bytes, which follow."""

    def write(path):
        with gzip.open(path, "wb", 1) as out:
            out.write(_tar_header(kind, size))
            for _ in range(size // MIB):
                out.write(bytes(MIB))

    return write


def zeros_in_gzip(path):
    """Write one member of 256 MiB of zeros."""
    with gzip.open(path, "wb", 1) as out:
        out.write(_tar_header(tarfile.REGTYPE, 256 * MIB, "answer.py"))
        for _ in range(256):
            out.write(bytes(MIB))


def many_members_tar(path):
    """Write 2000 members of 32 KiB: a reader that unpacks from the start for each member reads 61 GiB."""
    block = b"#" * (32 << 10)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for number in range(2000):
            info = tarfile.TarInfo(f"{number}.py")
            info.size = len(block)
            archive.addfile(info, io.BytesIO(block))


def bzip2_tar(path):
    with tarfile.open(path, "w:bz2") as archive:
        archive.addfile(tarfile.TarInfo("answer.py"))


def cut_tar(path):
    with tarfile.open(path, "w:gz") as archive:
        info = tarfile.TarInfo("answer.py")
        info.size = len(ANSWER)
        archive.addfile(info, io.BytesIO(ANSWER.encode()))
    path.write_bytes(path.read_bytes()[:-20])


def broken_gzip(path):
    path.write_bytes(b"\x1f\x8b\x08\0\0\0\0\0\0\3" + b"\xff" * 300)


def slow_pax_header(path):
    """Write a pax header of digits only: some versions of `tarfile` search it again from every digit."""
    body = b"9" * (8 * MIB)
    with gzip.open(path, "wb", 1) as out:
        out.write(_tar_header(tarfile.XHDTYPE, len(body)) + body)


def not_an_archive(path):
    path.write_bytes(b"PK\3\4 and no more")


# Name of the file → (function that writes it, a part of the sentence that refuses it).
HOSTILE = {
    "bzip2.zip": (bzip2_member, "a method other than deflate"),
    "broken.zip": (broken_deflate, "cannot be unpacked"),
    "checksum.zip": (wrong_checksum, "cannot be unpacked"),
    "password.zip": (password, "needs a password"),
    "swelling.zip": (swelling_zip, "holds more than 64 MiB"),
    "members.zip": (many_members_zip, "holds more than 2000 files"),
    "answers.zip": (many_answers_zip, "holds more than 50 files that can be graded"),
    "entries.zip": (empty_entries, "holds more than 2000 files"),
    "cut.zip": (not_an_archive, "cannot be read as an archive"),
    "name.tar.gz": (_long_field(tarfile.GNUTYPE_LONGNAME, 256 * MIB), "holds a name of more than 64 KiB"),
    "pax.tar.gz": (_long_field(tarfile.XHDTYPE, 256 * MIB), "holds a name of more than 64 KiB"),
    "digits.tar.gz": (slow_pax_header, "holds a name of more than 64 KiB"),
    "zeros.tar.gz": (zeros_in_gzip, "holds more than 64 MiB"),
    "members.tar.gz": (many_members_tar, "holds more than"),
    "bzip2.tgz": (bzip2_tar, "cannot be read as an archive"),
    "cut.tar.gz": (cut_tar, "cannot be read as an archive"),
    "broken.tgz": (broken_gzip, "cannot be read as an archive"),
}


def problems(path):
    """Return the sentences of `classroom/archives.py` about the problems of one archive."""
    from pathlib import Path

    from grader.classroom.archives import members
    from grader.support.errors import BadData

    try:
        return [problem for problem in members(Path(path)).values() if problem]
    except BadData as bad:
        return [str(bad)]
