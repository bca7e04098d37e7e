from tests.unit.policies.case import Cases, Trees, of_type, several

KIND = "aws_batch_compute_environment"


def environment(version: object) -> Trees:
    template = {"launch_template_name": "gpu", "version": version}
    return made({"type": "EC2", "launch_template": template})


def made(capacity: dict[str, object]) -> Trees:
    return several(
        team_compute={
            KIND: {"it": {"compute_resources": capacity}},
            "aws_launch_template": {"gpu": {"name": "gpu"}},
        }
    )


def plant(trees: Trees) -> None:
    for environment in of_type(trees, KIND):
        for template in [environment["compute_resources"].get("launch_template", {})]:
            template["version"] = "$Latest"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        environment("3"),
        environment(3),
        environment("${aws_launch_template.gpu.latest_version}"),
        made({"type": "FARGATE"}),
    ],
    fails=[
        environment("$Latest"),
        environment("$Default"),
        environment(None),
        environment("newest"),
        made({"type": "SPOT"}),
    ],
    cannot_tell=[
        environment("${var.version}"),
        environment("${aws_launch_template.gpu.name}"),
        environment("${aws_launch_template.other.latest_version}"),
    ],
    plant=plant,
)
