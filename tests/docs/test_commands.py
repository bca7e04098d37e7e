"""What the pages tell a person to type works, and prints what they show."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.console import needs_torch, steps

ROOT = Path(__file__).parents[2]
TOOLS = ".venv/bin"
PAGES = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("tutorials/*.md")),
    *sorted((ROOT / "docs").glob("how-to/*.md")),
    *sorted((ROOT / "blueprints").glob("*/README.md")),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A folder like a clone, as far as the pages use it, with an installed gristmill."""
    skip = shutil.ignore_patterns("out", "runs", "__pycache__")
    for name in ("blueprints", "infra", "scripts"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=skip)
    shutil.copy(ROOT / "platform.example.yaml", tmp_path)
    tools = tmp_path / TOOLS
    tools.mkdir(parents=True)
    for name, command in (("python", ""), ("gristmill", " -m gristmill")):
        tool = tools / name
        tool.write_text(f'#!/bin/sh\nexec {sys.executable}{command} "$@"\n')
        tool.chmod(0o755)
    return tmp_path


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(
            page,
            id=str(page.relative_to(ROOT)),
            marks=[pytest.mark.slow] if needs_torch(page) else [],
        )
        for page in PAGES
        if steps(page)
    ],
)
def test_commands_on_the_page_work_and_print_what_it_shows(page: Path, checkout: Path) -> None:
    for step in steps(page):
        printed, code = _type(step.command, checkout)
        assert code == 0, f"$ {step.command}\n{printed}"
        assert step.matches(printed), f"$ {step.command}\n{printed}\nthe page shows:\n" + "\n".join(
            step.shown
        )


def _type(command: str, folder: Path) -> tuple[str, int]:
    env = {name: value for name, value in os.environ.items() if not name.startswith("GRISTMILL_")}
    env |= {
        "PATH": f"{folder / TOOLS}:{env['PATH']}",
        "PYTHONPATH": str(ROOT / "worker"),
        "HF_HUB_OFFLINE": "1",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=env,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=180,
    )
    return done.stdout, done.returncode
