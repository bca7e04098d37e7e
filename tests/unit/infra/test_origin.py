"""Each resource leads to the line of infra/ that made it."""

import json
from pathlib import Path

from gristmill.contract.load import deployable_blueprints, load_platform
from infra.main import synthesize
from infra.origin import traced
from infra.team import resolve


def test_each_resource_leads_to_the_lines_that_made_it(tmp_path: Path) -> None:
    platform = load_platform(Path("platform.example.yaml"))
    with traced() as origins:
        synthesize(platform, resolve(platform, deployable_blueprints(None)), tmp_path)
    paths = [
        conf["//"]["metadata"]["path"]
        for file in tmp_path.glob("stacks/*/cdk.tf.json")
        for named in json.loads(file.read_text())["resource"].values()
        for conf in named.values()
    ]
    assert len(paths) > 50
    assert [path for path in paths if not origins.get(path)] == []
    (template,) = (path for path in paths if path.endswith("/gpu/template"))
    file, _, line = origins[template][0].rpartition(":")
    assert "LaunchTemplate(" in Path(file).read_text().splitlines()[int(line) - 1]


def test_nothing_is_traced_afterwards() -> None:
    import jsii

    create = jsii.create
    with traced():
        assert jsii.create is not create
    assert jsii.create is create
