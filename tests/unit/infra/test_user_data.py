"""What a machine does at its start, played on a machine without disks and with two."""

import base64
import os
import subprocess
from pathlib import Path

import pytest

from infra.user_data import user_data

TOOLS = {
    "lsblk": "printf '%s\\n' \"$DISKS\"",
    "mdadm": 'echo mdadm "$@" >> "$SAID"',
    "mkfs.xfs": 'echo mkfs "$@" >> "$SAID"',
    "mount": 'echo mount "$@" >> "$SAID"',
    "mkdir": "true",
    "chmod": 'echo chmod "$@" >> "$SAID"',
}


def script() -> str:
    text = base64.b64decode(user_data()).decode()
    return "#!/bin/bash" + text.partition("#!/bin/bash")[2].rpartition("\n--==")[0]


@pytest.mark.parametrize(
    ("disks", "said"),
    [
        ("/dev/nvme0n1 Amazon Elastic Block Store", ["chmod 1777 /scratch"]),
        (
            "/dev/nvme1n1 Amazon EC2 NVMe Instance Storage",
            [
                "mkfs -f /dev/nvme1n1",
                "mount -o noatime,nodev,nosuid /dev/nvme1n1 /scratch",
                "chmod 1777 /scratch",
            ],
        ),
        (
            "/dev/nvme1n1 Amazon EC2 NVMe Instance Storage\n"
            "/dev/nvme2n1 Amazon EC2 NVMe Instance Storage",
            [
                "mdadm --create /dev/md0 --level=0 --force --run --raid-devices=2 /dev/nvme1n1 "
                "/dev/nvme2n1",
                "mkfs -f /dev/md0",
                "mount -o noatime,nodev,nosuid /dev/md0 /scratch",
                "chmod 1777 /scratch",
            ],
        ),
    ],
)
def test_scratch_is_what_disks_there_are(tmp_path: Path, disks: str, said: list[str]) -> None:
    tools = tmp_path / "bin"
    tools.mkdir()
    for name, body in TOOLS.items():
        (tools / name).write_text(f"#!/bin/bash\n{body}\n")
        (tools / name).chmod(0o755)
    config, log = tmp_path / "ecs.config", tmp_path / "said"
    config.write_text("ECS_CLUSTER=theirs\n")
    done = subprocess.run(
        ["bash", "-c", script().replace("/etc/ecs/ecs.config", str(config))],
        env={"PATH": f"{tools}:{os.environ['PATH']}", "DISKS": disks, "SAID": str(log)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert log.read_text().splitlines() == said
    assert config.read_text().splitlines() == [
        "ECS_CLUSTER=theirs",
        "ECS_ENABLE_SPOT_INSTANCE_DRAINING=true",
        "ECS_CONTAINER_STOP_TIMEOUT=110s",
    ]
