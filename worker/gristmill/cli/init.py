"""`gristmill init`."""

from pathlib import Path
from typing import Annotated

import typer

from gristmill.cli.console import say
from gristmill.client.fork import fork
from gristmill.client.workflow import Workflows, project_of, workflows


def init(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="A new folder.")],
    from_: Annotated[str, typer.Option("--from", metavar="NAME", help="A shipped blueprint.")],
) -> None:
    """Fork a shipped blueprint: copy its folder, to be edited. The copy is named after DIR.

    Below blueprints/ of a project it gets a CI workflow too, for GitHub Actions and for GitLab.
    """
    project = project_of(folder)
    ci = workflows(project, folder.resolve().name) if project else None
    if ci:
        ci.refuse_overwriting()
    fork(from_, folder)
    say(f"{folder} is yours: edit {folder / 'blueprint.yaml'}, then gristmill run {folder}")
    if ci:
        _write(ci)


def _write(ci: Workflows) -> None:
    ci.write()
    files = " and ".join(str(path) for path in ci.texts)
    say(f"{files} judge and plan it; keep the one that you use")
    for line in ci.advice:
        say(line)
