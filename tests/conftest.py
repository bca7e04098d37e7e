"""Fixtures that every room's tests may ask for."""

import os

import pytest

pytest_plugins = ["tests.fixtures.s3"]

# Tests start worker processes by the dozen, and most of a short life goes into compiling.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

# Where tests run, no machine is taken back. A test of the notices brings metadata of its own.
os.environ["AWS_EC2_METADATA_DISABLED"] = "true"


@pytest.fixture
def anyio_backend() -> str:
    """Production's event loop; the simulations take trio's virtual clock themselves."""
    return "asyncio"
