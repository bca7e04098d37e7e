from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_launch_template"
GOOD = {"encrypted": True, "delete_on_termination": "true"}


def template(*disks: object) -> Trees:
    mappings = [{"device_name": f"/dev/xvd{'ab'[i]}", "ebs": ebs} for i, ebs in enumerate(disks)]
    return one(KIND, block_device_mappings=mappings)


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["block_device_mappings"][0]["ebs"]["encrypted"] = "false"


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        template(GOOD, [GOOD]),
        one(KIND, block_device_mappings=[{"ebs": GOOD}, {"virtual_name": "ephemeral0"}]),
    ],
    fails=[
        one(KIND),
        template(GOOD, {"encrypted": True}),
        template({**GOOD, "encrypted": "false"}),
        one(KIND, block_device_mappings={"virtual_name": "ephemeral0"}),
    ],
    cannot_tell=[
        template({**GOOD, "encrypted": "${var.encrypted}"}),
        template("${local.disk}"),
    ],
    plant=plant,
)
