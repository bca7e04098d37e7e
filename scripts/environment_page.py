"""The contract's process module -> the page on environment variables and notices."""

import ast
import inspect
from collections.abc import Iterator
from types import ModuleType

from gristmill.contract import process
from run_page import docstring, members
from table import Row, table


def environment_page() -> str:
    kinds = [(f"`{process.NoticeKind[name]}`", doc) for name, _, doc in members(process.NoticeKind)]
    return (
        "# Environment variables\n\n"
        "`gristmill run` sets those that its workers need. A job of your own that starts workers\n"
        f"(`gristmill worker`) sets at least `{process.ENV_RUN}` and `{process.ENV_QUEUE}`.\n\n"
        + table(("Variable", ""), variables(process, "ENV_"))
        + "\nA queue in SQS is in the region that its URL names, else in `AWS_REGION`; an\n"
        "endpoint other than AWS's comes from `AWS_ENDPOINT_URL`; credentials are found as boto3\n"
        "does. See "
        "[look after a work queue in SQS](../how-to/sqs-queue.md).\n"
        "\nCredentials of object stores are read as their vendors' libraries do: see\n"
        "[decision 0003](../decisions/0003-storage.md).\n\n"
        "## Notices\n\n"
        "A worker that is told to stop writes a `reclaim_notice` event to stderr: `kind`, `what`\n"
        "(the signal, the file, what EC2 will do) and `seconds_left`, null where the notice names\n"
        "no time. [Drill: reclaim a worker on purpose](../how-to/reclaim-drill.md) shows them.\n\n"
        + table(("Kind", "What was noticed"), kinds)
    )


def variables(module: ModuleType, prefix: str) -> Iterator[Row]:
    """(value, docstring below it) of each constant of a module whose name starts so."""
    body = ast.parse(inspect.getsource(module)).body
    for node, after in zip(body, [*body[1:], None], strict=True):
        if isinstance(node, ast.AnnAssign) and ast.unparse(node.target).startswith(prefix):
            yield f"`{getattr(module, ast.unparse(node.target))}`", docstring(after)
