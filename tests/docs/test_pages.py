"""Links lead somewhere, YAML on the pages is a blueprint, and generated pages are fresh."""

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from gristmill.contract.blueprint import json_schema
from gristmill.contract.load import parse_blueprint
from tests.docs.console import blocks

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "blueprints").rglob("*.md")]
)
LINK = re.compile(r"\]\((?!https?://)([^)#\s]+)[^)]*\)")
BASE = {
    "version": 1,
    "name": "example",
    "task": {"kind": "embed", "engine": {"kind": "echo"}},
    "input": {"uri": "in/", "format": {"kind": "jsonl"}},
    "output": {"uri": "out"},
}


def each_page(pages: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("page", pages, ids=[str(p.relative_to(ROOT)) for p in pages])


@each_page(PAGES)
def test_every_link_leads_to_a_file(page: Path) -> None:
    links = LINK.findall(page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []


@each_page([page for page in PAGES if blocks(page, "yaml")])
def test_every_piece_of_a_blueprint_is_valid(page: Path) -> None:
    for _, text in blocks(page, "yaml"):
        tree = BASE | yaml.safe_load(text)
        parse_blueprint(tree, str(page), ROOT)
        jsonschema.validate(tree, json_schema())


def test_generated_pages_are_fresh() -> None:
    command = [sys.executable, "-m", "scripts.docs", "--check"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_published_schema_is_a_valid_schema() -> None:
    schema = json.loads((ROOT / "docs" / "reference" / "blueprint.schema.json").read_text())
    jsonschema.Draft202012Validator.check_schema(schema)


def test_every_page_of_the_documentation_is_reachable_from_its_index() -> None:
    docs = ROOT / "docs"
    seen, ahead = set(), [docs / "README.md"]
    while ahead:
        page = ahead.pop()
        if page not in seen and page.suffix == ".md":
            seen.add(page)
            links = LINK.findall(page.read_text(encoding="utf-8"))
            ahead += [(page.parent / link).resolve() for link in links]
    assert sorted(set(docs.resolve().rglob("*.md")) - {page.resolve() for page in seen}) == []
