"""Errors a person must act on. Each ends the process with its exit code and its one message."""

from typing import ClassVar

from gristmill.contract.process import ExitCode


class GristmillError(Exception):
    """Base of every expected failure; `str()` is the sentence shown to the person."""

    exit_code: ClassVar[ExitCode] = ExitCode.BUG


class UsageError(GristmillError):
    exit_code = ExitCode.USAGE


class ConfigError(GristmillError):
    """The blueprint, or a thing it names (model folder, output place), is wrong."""

    exit_code = ExitCode.CONFIG


class BadInputError(GristmillError):
    """An input object is damaged as a whole, or there is nothing to do."""

    exit_code = ExitCode.BAD_INPUT


class TooManyRejectedError(GristmillError):
    """More records were rejected than `errors` in the blueprint allows."""

    exit_code = ExitCode.BAD_INPUT


class SpecMismatchError(GristmillError):
    """The published RunSpec, or an input's etag, differs from what this process sees."""

    exit_code = ExitCode.BAD_SPEC


class ReclaimedError(GristmillError):
    """Told to stop; everything finished is published."""

    exit_code = ExitCode.RECLAIMED


class EngineDeadError(GristmillError):
    """The engine can't work any more, whatever record it is given."""

    exit_code = ExitCode.ENGINE_DEAD


class StorageError(GristmillError):
    """Storage can't be reached, timed out or is full."""

    exit_code = ExitCode.STORAGE


class PermissionRefusedError(StorageError):
    exit_code = ExitCode.PERMISSION


class ObjectMissingError(StorageError):
    """No object under this key, or no bucket of this name."""


class ObjectChangedError(StorageError):
    """The object's etag is not the one that was planned with."""

    exit_code = ExitCode.BAD_SPEC
