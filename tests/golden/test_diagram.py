"""The picture in the docs is the one that the stacks give."""

import os

from infra.diagram import PICTURE, picture


def test_the_picture_shows_the_stacks_as_they_are() -> None:
    drawn = picture()
    if os.environ.get("GOLDEN_UPDATE"):
        PICTURE.write_text(drawn)
    assert PICTURE.read_text() == drawn, "the stacks changed: python -m infra.diagram"
