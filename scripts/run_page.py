"""The contract's own docstrings -> the pages on the run directory and on rejected records."""

import ast
import inspect
import textwrap
from collections.abc import Iterator
from enum import StrEnum

from pydantic import BaseModel

from gristmill.contract import layout
from gristmill.contract.fill import Fill, SentPage
from gristmill.contract.manifest import (
    AttemptReport,
    Control,
    Counts,
    DataFile,
    PartialManifest,
    PartManifest,
    RunManifest,
    ShardFailure,
    ShardManifest,
)
from gristmill.contract.record import RejectionClass, Stage
from gristmill.contract.run import RunSpec
from gristmill.contract.shard import ShardPlan
from table import Row, table


def rejections_page() -> str:
    rows = [(f"`{RejectionClass[name]}`", doc) for name, _, doc in members(RejectionClass)]
    stages = ", ".join(f"`{stage}`" for stage in Stage)
    return (
        "# Rejection classes\n\nWhy a record was rejected: `class` in a dead letter and the keys\n"
        "of `rejected_by_class` in a report. The names don't change: filter by them.\n\n"
        + table(("Class", "Meaning"), rows)
        + f"\n`stage` says where on its way the record was rejected: {stages}.\n"
    )


def run_directory_page() -> str:
    attempt = "9f2c41d07ab3"
    data = layout.part_data(7, 3, attempt, "5e1c93a7f20d", "results", "parquet")
    keys = [
        (layout.RUN, "RunSpec", "once"),
        (layout.plan_page(0), "a shard a line: objects and splits", "once"),
        (layout.PLAN, "ShardPlan", "once, after its pages"),
        (data, "results of a part, as one attempt made them", "once an attempt"),
        (layout.partial(7, 4, attempt), "what is inferred of a part cut short", "once"),
        (layout.part_manifest(7, 3), "PartManifest: which attempt's data holds", "once"),
        (layout.part_manifest(7, 3, 1), "the same after a first retry; the last holds", "once"),
        (layout.shard_manifest(7), "ShardManifest: its results are published", "once"),
        (layout.shard_manifest(7, 1), "the same after a first retry", "once"),
        (layout.dead_letter(7), "rejected records of a shard", "with the shard"),
        (layout.attempt(attempt), "AttemptReport", "again and again, by one worker"),
        (layout.MANIFEST, "RunManifest: the run is finished and proved", "once, last"),
        (layout.retry_manifest(1), "RunManifest after a first retry", "once, last"),
        (layout.failure(7, 0), "ShardFailure: the shard was given up", "each time"),
        (layout.CONTROL, "Control: whether the run is wanted", "by `cancel` and `resume`"),
        (layout.claim(7, 0, 2), "the second lease on a shard: who has it", "a beat at a time"),
        (
            layout.claim(7, 0, 2, "done"),
            "that lease's end: done, released, failed, progressed, reopened",
            "once",
        ),
        (layout.claim_ticket(7, 3), "later parts of a shard, handed back", "once"),
        (layout.fill(0), "Fill: shards whose tickets go to a queue together", "once"),
        (layout.fill_page(0, 0), "SentPage: the first thousand of them were sent", "once"),
        (layout.QUEUE, "the local work queue; may be lost", "scratch, local runs only"),
    ]
    models: list[type[BaseModel]] = [
        RunSpec, ShardPlan, PartManifest, PartialManifest, ShardManifest, RunManifest,
        AttemptReport, Counts, DataFile, ShardFailure, Control, Fill,
        SentPage,
    ]  # fmt: skip
    results = ", ".join(
        f"`{layout.result(7, name, ext)}`"
        for name, ext in (("results", "parquet"), ("results", "jsonl"), ("errors", "jsonl"))
    )
    return (
        "# Run directory\n\nEverything that is known of a run, as files or objects. The example\n"
        f"has shard 7, part 3 and attempt `{attempt}`. *Once* means create-only: the first one to\n"
        "write it wins, and it never changes. Only what a manifest names is ever read. `claims/`\n"
        "is there for an `indexed` queue only, `fills/` for one in SQS.\n\n"
        + table(("Key", "What it holds", "Written"), ((f"`{k}`", w, h) for k, w, h in keys))
        + f"\nResults lie under `output.uri`, a file a shard: {results}.\n\n"
        + "\n".join(model_section(model) for model in models)
    )


def model_section(model: type[BaseModel]) -> str:
    """A heading, the class's docstring, a row for each field."""
    rows = [(f"`{name}`", f"`{type_}`", doc) for name, type_, doc in members(model)]
    description = inspect.cleandoc(model.__doc__ or "").replace("\n", " ")
    return f"## {model.__name__}\n\n{description}\n\n{table(('Key', 'Type', ''), rows)}"


def members(cls: type[BaseModel] | type[StrEnum]) -> Iterator[Row]:
    """(name, annotation, docstring below it) of each field or enum member, in order."""
    tree = ast.parse(textwrap.dedent(inspect.getsource(cls)))
    body = [node for top in tree.body if isinstance(top, ast.ClassDef) for node in top.body]
    for node, after in zip(body, [*body[1:], None], strict=True):
        doc = docstring(after)
        if isinstance(node, ast.AnnAssign):
            yield ast.unparse(node.target), ast.unparse(node.annotation), doc
        elif isinstance(node, ast.Assign) and issubclass(cls, StrEnum):
            yield ast.unparse(node.targets[0]), "", doc


def docstring(node: ast.stmt | None) -> str:
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
        return " ".join(inspect.cleandoc(str(node.value.value)).split())
    return ""
