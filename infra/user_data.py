"""What a GPU machine does before the container agent starts. AWS Batch takes MIME only.

The instance's own disks, if it has any, become one scratch disk; without any, scratch lies on the
root disk.
"""

import base64
from typing import Final

SCRATCH: Final = "/scratch"
STOP_SECONDS: Final = 110
"""A container gets this long between SIGTERM and SIGKILL; a spot notice gives 120."""

_SCRIPT: Final = f"""\
#!/bin/bash
set -euo pipefail
cat >> /etc/ecs/ecs.config <<'CONFIG'
ECS_ENABLE_SPOT_INSTANCE_DRAINING=true
ECS_CONTAINER_STOP_TIMEOUT={STOP_SECONDS}s
CONFIG
mkdir -p {SCRATCH}
mapfile -t disks < <(lsblk --nodeps --noheadings --paths --output NAME,MODEL \\
  | awk '/Instance Storage/ {{print $1}}')
if (( ${{#disks[@]}} > 1 )) && command -v mdadm; then
  mdadm --create /dev/md0 --level=0 --force --run --raid-devices=${{#disks[@]}} "${{disks[@]}}"
  disk=/dev/md0
else
  disk=${{disks[0]:-}}
fi
if [[ -n $disk ]]; then
  mkfs.xfs -f "$disk"
  mount -o noatime,nodev,nosuid "$disk" {SCRATCH}
fi
chmod 1777 {SCRATCH}
"""

_BOUNDARY: Final = "==GRISTMILL=="


def user_data() -> str:
    """MIME multipart, base64. Settings are appended: AWS Batch writes its own to the same file."""
    mime = (
        f'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="{_BOUNDARY}"\n\n'
        f"--{_BOUNDARY}\n"
        'Content-Type: text/x-shellscript; charset="us-ascii"\n\n'
        f"{_SCRIPT}\n--{_BOUNDARY}--\n"
    )
    return base64.b64encode(mime.encode("ascii")).decode("ascii")
