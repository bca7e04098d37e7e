"""Writes the pages of docs/reference that the code itself knows best.

    python -m scripts.docs [--check]

With --check nothing is written; exit 1 when a page is stale.
"""

import json
import sys
from pathlib import Path
from typing import Any, Final

import typer

from gristmill.cli.main import app
from gristmill.contract import blueprint, platform
from gristmill.contract.failure import (
    BACKOFF_SECONDS,
    CLASS_OF,
    LONGEST_BACKOFF_SECONDS,
    RESTARTS,
    FailureClass,
)
from gristmill.contract.process import EXIT_MEANING
from scripts.blueprint_page import blueprint_page
from scripts.deployment_page import deployment_page, platform_page
from scripts.environment_page import environment_page
from scripts.policy_page import policy_page
from scripts.run_page import members, rejections_page, run_directory_page
from scripts.table import table

REFERENCE: Final = Path(__file__).resolve().parents[1] / "docs" / "reference"
NOTE: Final = "<!-- Written by scripts/docs.py. After a change of the code: make docs -->\n\n"


def main(arguments: list[str]) -> int:
    if arguments not in ([], ["--check"]):
        print("usage: python -m scripts.docs [--check]", file=sys.stderr)
        return 64
    written = pages()
    stale = [name for name, text in written.items() if _read(REFERENCE / name) != text]
    if arguments:
        for name in stale:
            print(f"docs/reference/{name} is stale: run `make docs`", file=sys.stderr)
        return 1 if stale else 0
    REFERENCE.mkdir(parents=True, exist_ok=True)
    for name in stale:
        (REFERENCE / name).write_text(written[name], encoding="utf-8")
        print(f"wrote docs/reference/{name}")
    return 0


def pages() -> dict[str, str]:
    """File name -> text."""
    return {
        "blueprint.schema.json": _schema_file(blueprint.json_schema()),
        "blueprint.md": NOTE + blueprint_page(blueprint.json_schema()),
        "platform.schema.json": _schema_file(platform.json_schema()),
        "platform.md": NOTE + platform_page(platform.json_schema()),
        "deployment.md": NOTE + deployment_page(),
        "cli.md": NOTE + _cli_page(),
        "environment.md": NOTE + environment_page(),
        "exit-codes.md": NOTE + _exit_codes_page(),
        "policies.md": NOTE + policy_page(),
        "rejections.md": NOTE + rejections_page(),
        "run-directory.md": NOTE + run_directory_page(),
    }


def _schema_file(schema: dict[str, Any]) -> str:
    return json.dumps(schema, indent=2, ensure_ascii=False) + "\n"


def _cli_page() -> str:
    group: Any = typer.main.get_command(app)
    parts = [f"# Command line\n\n{group.help} Exit codes: [exit-codes.md](exit-codes.md).\n\n"]
    for name, command in group.commands.items():
        if not command.hidden:
            parts.append(_command(name, command))
    return "".join(parts).rstrip("\n") + "\n"


def _command(name: str, command: Any) -> str:
    given = [p for p in command.params if p.param_type_name == "argument"]
    usage = " ".join(["gristmill", name, *(_placeholder(p) for p in given), "[OPTIONS]"])
    rows = []
    for param in command.params:
        option = param.param_type_name == "option"
        shown = f"{param.opts[0]} {_placeholder(param)}".rstrip() if option else _placeholder(param)
        more = [param.help or ""]
        if option and param.required:
            more.append("Required.")
        elif option and param.default not in (None, False):
            more.append(f"Default: `{param.default}`.")
        if getattr(param, "envvar", None):
            more.append(f"Also from `{param.envvar}`.")
        if getattr(param, "multiple", False):
            more.append("May be repeated.")
        rows.append((f"`{shown}`", " ".join(more)))
    return f"## gristmill {name}\n\n`{usage}`\n\n{command.help}\n\n{table(('', ''), rows)}\n"


def _placeholder(param: Any) -> str:
    if param.param_type_name == "argument":
        return str(param.metavar or param.name.upper())
    if getattr(param, "is_flag", False):
        return ""
    return str(param.metavar or "N")


def _exit_codes_page() -> str:
    rows = [(str(int(code)), code.name, meaning) for code, meaning in EXIT_MEANING.items()]
    return (
        "# Exit codes\n\nOf every gristmill command and every worker.\n\n"
        + table(("Code", "Name", "Meaning"), rows)
        + "\nAfter 71, 74 and 75 the same command, or `gristmill resume`, goes on where the run\n"
        "stopped. After the others something must be changed first; the message says what.\n"
        + _failure_classes()
    )


def _failure_classes() -> str:
    codes: dict[FailureClass, list[str]] = {}
    for code, failure in CLASS_OF.items():
        codes.setdefault(failure, []).append(str(int(code)))
    rows = [
        (
            f"`{FailureClass[name]}`",
            ", ".join(codes.get(FailureClass[name], [])),
            doc,
            str(RESTARTS.get(FailureClass[name], 0)),
        )
        for name, _, doc in members(FailureClass)
    ]
    return (
        "\n## Failure classes\n\nWhy an attempt ended before its work did, and how often in a row, "
        "with no part\npublished in between, `gristmill run` begins a worker anew after it. It "
        f"waits {BACKOFF_SECONDS} s,\ntwice as long each time, at most "
        f"{LONGEST_BACKOFF_SECONDS:.0f} s, the half of it by chance. AWS Batch retries\n71 and 75, "
        "and jobs whose machine went. Records have a budget of their own: `errors` in the\n"
        "blueprint.\n\n" + table(("Class", "Exit codes", "Meaning", "Restarts"), rows)
    )


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
