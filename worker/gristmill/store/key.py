"""Keys: relative paths with `/` between folders, unescaped."""

from gristmill.contract.errors import StorageError


def checked(key: str) -> str:
    """The key itself.

    Raises StorageError for one that names no object (empty, or with an empty folder in it) or that
    leads out of the root.
    """
    if any(step in ("", ".", "..") for step in key.split("/")):
        raise StorageError(
            f"{key!r} can't be an object's key: between slashes there is nothing, `.` or `..`; "
            f"rename the object, or name another"
        )
    return key


def checked_prefix(prefix: str) -> str:
    """The prefix itself. Raises StorageError unless it is empty or a folder with `/` at its end."""
    if not prefix:
        return prefix
    if not prefix.endswith("/"):
        raise StorageError(f"{prefix!r} can't be a prefix: it must end in /")
    return f"{checked(prefix[:-1])}/"
