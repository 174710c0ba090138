"""Files of other programs, which are no text in any encoding."""

from .errors import InputError
from .open import COMPRESSED

OLE, ZIP = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"PK\x03\x04"
SHEET, DOCUMENT = "a spreadsheet: save it as CSV", "a document: save it as text"
OTHERS: tuple[tuple[tuple[str, ...], bytes, str], ...] = (  # ends of names, first bytes, what it is and what to do
    ((".xlsx", ".xlsm", ".ods"), ZIP, SHEET),
    ((".docx", ".odt"), ZIP, DOCUMENT),
    ((".xls",), OLE, SHEET),
    ((".doc",), OLE, DOCUMENT),
    (("",), OLE, "a file of Microsoft Office: save it as CSV or text"),
    (("",), ZIP, "an archive or a file of an office program: name it .zip, or save it as CSV or text"),
    (("",), b"%PDF-", "a PDF: extract its text, for example with pdftotext"),
    (("",), b"\x93NUMPY", "an array of NumPy: load it in Python"),
    (("",), b"\x89HDF\r\n", "an HDF5 file: load it in Python"),
    ((".pkl", ".pickle", ".joblib"), b"\x80", "a pickle, which may run code when it is loaded: write it as CSV or JSON lines"),
)  # fmt: skip


def refuse_other_programs(source: str, head: bytes) -> None:
    """Refuses a file that another program wrote, and says what to do with it."""
    name = COMPRESSED.sub("", source.lower())
    for ends, first, what in OTHERS:
        if name.endswith(ends) and head.startswith(first):
            raise InputError(f"{source}: is {what}")
