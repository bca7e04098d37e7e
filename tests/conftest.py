"""Fixtures that every room's tests may ask for."""

import os

import pytest

pytest_plugins = ["tests.fixtures.s3"]

# Tests start worker processes by the dozen, and most of a short life goes into compiling.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


@pytest.fixture
def anyio_backend() -> str:
    """Production's event loop; the simulations take trio's virtual clock themselves."""
    return "asyncio"
