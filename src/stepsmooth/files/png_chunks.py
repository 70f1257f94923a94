"""The chunks of a PNG file: how long each claims to be, looked at before anybody reads it."""

from pathlib import Path

from stepsmooth.files.errors import InputError

_START = b"\x89PNG\r\n\x1a\n"


def check_chunks(path: Path) -> None:
    r"""Refuse a PNG file with a chunk that claims more than the file has; what is no PNG file is left to the reader.

    Parameters
    ----------
    path : pathlib.Path

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "page.png"
    ...     _ = path.write_bytes(_START + b"\x7f\xff\xff\xffIDAT and so on")
    ...     check_chunks(path)
    Traceback (most recent call last):
    stepsmooth.files.errors.InputError: ...page.png is cut short or damaged: its chunk IDAT claims 2147483647 bytes...
    """
    size = path.stat().st_size
    with open(path, "rb") as handle:
        if handle.read(len(_START)) != _START:
            return
        at = len(_START)
        while at + 8 <= size:
            head = handle.read(8)
            claimed = int.from_bytes(head[:4], "big")
            # After its content, a chunk has a checksum of four bytes.
            if at + 12 + claimed > size:
                name = head[4:].decode("ascii", "replace")
                raise InputError(
                    f"{path} is cut short or damaged: its chunk {name if name.isalpha() else repr(head[4:])} claims "
                    f"{claimed} bytes, of which it has {max(size - at - 12, 0)}."
                )
            if head[4:] == b"IEND":
                return
            handle.seek(claimed + 4, 1)
            at += 12 + claimed
