"""Where words for a person go: stderr, so that stdout stays for results and JSON."""

from typing import Any

import orjson
import typer
from pydantic import BaseModel
from rich.console import Console
from rich.text import Text

console = Console(stderr=True, highlight=False)


def complain(message: str) -> None:
    """One message about what went wrong, its lines kept."""
    console.print(Text.assemble(("error", "bold red"), ": ", message), soft_wrap=True)


def say(message: str) -> None:
    console.print(Text(message), soft_wrap=True)


def print_json(value: BaseModel | dict[str, Any]) -> None:
    """One JSON object on stdout, and nothing else."""
    plain = value.model_dump(mode="json") if isinstance(value, BaseModel) else value
    typer.echo(orjson.dumps(plain, option=orjson.OPT_INDENT_2).decode())
