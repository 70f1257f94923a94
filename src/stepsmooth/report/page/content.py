"""What a page is made of: the template walks through these fields in order and leaves out what is empty."""

from dataclasses import dataclass, field

from stepsmooth.model.arrays import Anything
from stepsmooth.report.page.pictures import Picture


@dataclass(frozen=True)
class Table:
    """A table: title, heads of the columns, rows of text, and a remark below."""

    title: str
    heads: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Row:
    """Pictures that belong side by side, under a name."""

    name: str
    pictures: tuple[Picture, ...]


@dataclass
class Content:
    """The parts of a page that depend on where the data live.

    Attributes
    ----------
    kind : {"volume", "image", "signal", "points"}
        Which viewer the page has.
    lede : str
        What was decomposed, in a sentence.
    data : dict
        What the viewer's script reads, ready for JSON.
    viewer_note : str
        What the viewer leaves out.
    rows : list of Row
        Slices or images, original to labels; on paper they stand in for the viewer.
    print_only : list of Picture
        Shown on paper and without scripts only.
    """

    kind: str
    lede: str
    data: dict[str, Anything] = field(default_factory=dict)
    viewer_note: str = ""
    rows: list[Row] = field(default_factory=list)
    rows_note: str = ""
    print_only: list[Picture] = field(default_factory=list)
    layers: list[tuple[str, Picture]] = field(default_factory=list)
    channels: list[str] = field(default_factory=list)
    field_bar: tuple[str, Picture, str] | None = None
    overview: list[Picture] = field(default_factory=list)
    histograms: list[Picture] = field(default_factory=list)
    dwells: list[Picture] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    findings: list[str] = field(default_factory=list)
    residuals: list[Picture] = field(default_factory=list)
    certificate_pictures: list[Picture] = field(default_factory=list)
