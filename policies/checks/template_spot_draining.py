"""A machine that is about to be taken back stops its containers in good order."""

import base64
import re
from collections.abc import Iterator
from email import message_from_bytes
from email.message import Message
from typing import Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource, literal

SCRIPTS: Final = ("text/x-shellscript", "text/cloud-boothook")
WANTED: Final = {
    "ECS_ENABLE_SPOT_INSTANCE_DRAINING": r"true",
    "ECS_CONTAINER_STOP_TIMEOUT": r"([0-9]+(\.[0-9]+)?(ms|s|m|h))+",
}
"""What the container agent must be told -> the values that do."""


class SpotDraining(Check):
    title = "A machine that is about to be taken back stops its containers in good order"
    risk = "A worker is cut off in the middle of its work, without the time to put it back."
    remedy = "Write both settings to /etc/ecs/ecs.config in infra/user_data.py."
    source = (
        "https://docs.aws.amazon.com/AmazonECS/latest/developerguide/"
        "spot-instance-draining-linux-container.html"
    )
    resources = ("aws_launch_template",)

    def faults(self, resource: Resource) -> Iterator[str]:
        text = literal(resource.conf.get("user_data") or "", "user_data")
        if not isinstance(text, str):
            raise CannotTellError(f"user_data is {text!r}, not a text")
        message = _message(text)
        if message is None:
            yield "user_data is not base64 of MIME multipart, which alone AWS Batch adds to"
            return
        script = "\n".join(_scripts(message))
        for name, value in WANTED.items():
            said = _setting(script, name)
            if said is None:
                yield f"user_data doesn't set {name}"
            elif not re.fullmatch(value, said):
                yield f"user_data sets {name} to {said!r}"


def _message(text: str) -> Message | None:
    try:
        message = message_from_bytes(base64.b64decode("".join(text.split()), validate=True))
    except ValueError:
        return None
    return message if message.is_multipart() else None


def _scripts(message: Message) -> Iterator[str]:
    for part in message.walk():
        content = part.get_payload(decode=True)
        if part.get_content_type() in SCRIPTS and isinstance(content, bytes):
            yield content.decode("utf-8", "replace")


def _setting(script: str, name: str) -> str | None:
    """The last value that a line gives it; comments don't count."""
    found = re.findall(rf"^[^#\n]*\b{name}=[\"']?([\w.]*)", script, re.MULTILINE)
    return found[-1] if found else None
