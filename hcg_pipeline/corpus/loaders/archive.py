"""Zip-based documents (DOCX, EPUB): checked before a library unpacks them."""

from io import BytesIO
from zipfile import BadZipFile, ZipFile

from hcg_pipeline.errors import DocumentError

_LARGEST = 1_000_000_000
"""Bytes that all parts may have together when unpacked."""
_OFFICE_97 = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def open_archive(data: bytes, kind: str) -> ZipFile:
    """The archive of a `kind` ('DOCX', 'EPUB'). Raises `DocumentError` if it is none or unpacks to absurd sizes."""
    if not data:
        raise DocumentError("the file is empty: put a document there or remove it")
    if data.startswith(_OFFICE_97):
        raise DocumentError(
            f"this is an encrypted or Office 97-2003 document, not {kind}: open it, take off the password and save it "
            "as .docx"
        )
    try:
        archive = ZipFile(BytesIO(data))
        size = sum(part.file_size for part in archive.infolist())
    except BadZipFile as error:
        raise DocumentError(f"not a {kind} file, or damaged: {error}. Save it again or fetch it again") from error
    if size > _LARGEST:
        raise DocumentError(f"its parts unpack to {size / 1e9:.1f} GB: no {kind} document is that large")
    return archive
