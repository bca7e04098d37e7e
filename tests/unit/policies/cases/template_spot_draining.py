import base64

from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_launch_template"
DRAINS = "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true"
STOPS = "ECS_CONTAINER_STOP_TIMEOUT=110s"


def mime(*lines: str, kind: str = "text/x-shellscript") -> str:
    script = "\n".join(lines)
    return (
        'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="=="\n\n'
        f"--==\nContent-Type: {kind}\n\n#!/bin/bash\n{script}\n\n--==--\n"
    )


def template(text: str) -> Trees:
    return one(KIND, user_data=base64.b64encode(text.encode()).decode())


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        text = base64.b64decode(made["user_data"]).decode()
        text = text.replace("DRAINING=true", "DRAINING=false")
        made["user_data"] = base64.b64encode(text.encode()).decode()


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        template(mime("cat >> /etc/ecs/ecs.config <<'CONFIG'", DRAINS, STOPS, "CONFIG")),
        template(
            mime(f"echo {DRAINS} >> /etc/ecs/ecs.config", f'echo "{STOPS}" >> /etc/ecs/ecs.config')
        ),
        template(mime(DRAINS, "ECS_CONTAINER_STOP_TIMEOUT=1m50s")),
    ],
    fails=[
        one(KIND),
        one(KIND, user_data="#!/bin/bash"),
        template(f"#!/bin/bash\n{DRAINS}\n{STOPS}\n"),
        template(mime(STOPS)),
        template(mime(DRAINS)),
        template(mime(f"# {DRAINS}", STOPS)),
        template(mime(DRAINS, STOPS, "ECS_ENABLE_SPOT_INSTANCE_DRAINING=false")),
        template(mime(DRAINS, "ECS_CONTAINER_STOP_TIMEOUT=")),
        template(mime(DRAINS, STOPS, kind="text/plain")),
    ],
    cannot_tell=[one(KIND, user_data='${filebase64("start.sh")}'), one(KIND, user_data=[1])],
    plant=plant,
)
