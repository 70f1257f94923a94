"""Tables and images in and out: what is read is checked, what is written appears whole or not at all."""

from stepsmooth.files.errors import InputError, OutputError
from stepsmooth.files.folders import ResultFolder
from stepsmooth.files.image_file import ImageFile
from stepsmooth.files.images import read_image_file, write_image_file
from stepsmooth.files.layout import ImageLayout, lay_out
from stepsmooth.files.signals import SignalFile, read_signal

__all__ = [
    "ImageFile",
    "ImageLayout",
    "InputError",
    "OutputError",
    "ResultFolder",
    "SignalFile",
    "lay_out",
    "read_image_file",
    "read_signal",
    "write_image_file",
]
