"""Whole files: each object is one record, named by its key."""

from collections.abc import Iterator

from gristmill.contract.column import Column
from gristmill.contract.dataset import WholeFiles
from gristmill.contract.record import Record, Rejected, RejectionClass, Stage
from gristmill.formats.fields import new_record, rejected_record, too_large
from gristmill.formats.json_object import unparsable
from gristmill.formats.lines import KEPT
from gristmill.formats.protocol import Source


class FilesReader:
    """The place of a record is the key, its only position 0."""

    def __init__(self, format: WholeFiles, most: int) -> None:
        self._content = format.content
        self._most = most

    @property
    def footers(self) -> bool:
        return False

    def columns(self, source: Source | None) -> tuple[Column, ...]:  # noqa: ARG002
        return ()

    def cuts(self, source: Source, target: int) -> tuple[int | None, list[int]]:  # noqa: ARG002
        return 1, []

    def records(
        self,
        source: Source,
        start: int,
        stop: int | None,  # noqa: ARG002 - a file is never cut
        at: int,
        ordinal: int,
    ) -> Iterator[Record]:
        if start == 0 and at == 0:
            yield self._record(source, ordinal)

    def _record(self, source: Source, ordinal: int) -> Record:
        key, size = source.object.key, source.object.size
        if size > self._most:
            fault = too_large(size, self._most)
            return rejected_record(ordinal, key, 1, b"", fault)
        body = source.read(0, size)
        if not body:
            fault = Rejected(RejectionClass.MISSING_FIELD, Stage.READ, "the file is empty")
            return rejected_record(ordinal, key, 1, b"", fault)
        if self._content == "bytes":
            return new_record(ordinal, key, 1, key, (body,), raw=body)
        try:
            text = body.decode("utf-8-sig")
        except UnicodeDecodeError as error:
            fault = unparsable(
                f"not valid UTF-8: byte 0x{body[error.start]:02x} at {error.start:,}; say "
                "`content: bytes` in input.format if it is no text"
            )
            return rejected_record(ordinal, key, 1, body[:KEPT], fault)
        if not text or text.isspace():
            fault = Rejected(RejectionClass.MISSING_FIELD, Stage.READ, "the file holds only blanks")
            return rejected_record(ordinal, key, 1, body[:KEPT], fault)
        return new_record(ordinal, key, 1, key, (text,), raw=body)
