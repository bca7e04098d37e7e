"""A Source as the file that pyarrow wants."""

import io

from gristmill.contract.errors import GristmillError
from gristmill.formats.protocol import Source


class RangedFile(io.RawIOBase):
    """Reads ranges as they are asked for; pyarrow asks for the footer and for column chunks."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self._source = source
        self._at = 0
        self.failure: GristmillError | None = None
        """What storage said, which pyarrow may have put in its own words."""

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._source.object.size}
        self._at = base[whence] + offset
        return self._at

    def read(self, size: int | None = -1) -> bytes:
        end = self._source.object.size
        upto = end if size is None or size < 0 else min(self._at + size, end)
        if upto <= self._at:
            return b""
        try:
            body = self._source.read(self._at, upto)
        except GristmillError as error:
            self.failure = error
            raise
        self._at += len(body)
        return body
