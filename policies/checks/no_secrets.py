"""No secret stands in what is deployed."""

import base64
import binascii
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from policies.check import Check
from policies.reading.stack import CannotTellError, Resource

TOKENS: Final = {
    "an AWS access key": re.compile(r"\b(AKIA|ASIA)[A-Z0-9]{16}\b"),
    "a private key": re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"),
    "a GitHub token": re.compile(r"\b(gh[opsur]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{22})"),
    "a GitLab token": re.compile(r"\bglpat-[A-Za-z0-9_-]{20}"),
    "a Slack token": re.compile(r"\bxox[abeoprs]-[A-Za-z0-9-]{10}|hooks\.slack\.com/services/T"),
    "a Hugging Face token": re.compile(r"\bhf_[A-Za-z0-9]{30}"),
    "an OpenAI key": re.compile(r"\bsk-[A-Za-z0-9_-]{20}"),
}
SECRET_NAME: Final = re.compile(
    r"(^|_)(password|passwd|secret|credentials?)(_|$)|(^|_)(token|(api|access|private)_?key)$"
)
PLACE_NAME: Final = re.compile(r"_(arn|file|id|name|path|uri|url)$")
"""Says where a secret is, not what it is."""
ASSIGNMENT: Final = re.compile(r"\b([A-Za-z_][A-Za-z0-9_]*)=[\"']?([^\s\"'$`;&]+)")
_CAPITAL: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
JSON_ATTRIBUTES: Final = ("container_properties", "container_definitions")
Found = Iterator[tuple[str, str, str]]


class NoSecrets(Check):
    title = "No password, token or key stands in a definition, template, parameter or schedule"
    risk = (
        "Who may read a definition, a plan or a state has the secret, and it can't be changed soon."
    )
    remedy = (
        "Keep the secret in Secrets Manager and name its ARN under `secrets` of the container in "
        "infra/constructs/inference_job.py; then change the secret, as it was written down."
    )
    source = "https://docs.aws.amazon.com/batch/latest/userguide/specifying-sensitive-data.html"
    resources = (
        "aws_batch_job_definition",
        "aws_ecs_task_definition",
        "aws_lambda_function",
        "aws_launch_template",
        "aws_scheduler_schedule",
        "aws_ssm_parameter",
    )

    def faults(self, resource: Resource) -> Iterator[str]:
        for path, name, text in _texts(_opened(resource.conf), "", ""):
            for kind, pattern in TOKENS.items():
                if pattern.search(text):
                    yield f"{path} holds {kind}"
            if _is_secret(name, text):
                yield f"{path} has a value, must name where the secret is kept"
            for assigned, value in ASSIGNMENT.findall(text):
                if _is_secret(assigned, value):
                    yield f"{path} sets {assigned} to a value, must name where the secret is kept"


def _opened(conf: Mapping[str, Any]) -> dict[str, Any]:
    """With what is packed into one attribute unpacked. What can't be read is not told either."""
    opened = {name: value for name, value in conf.items() if name != "//"}
    for name in JSON_ATTRIBUTES:
        if opened.get(name) is not None:
            opened[name] = _json(str(opened[name]))
            if opened[name] is None:
                raise CannotTellError(f"{name} is not JSON that can be read here")
    for name in ("user_data", "user_data_base64"):
        if opened.get(name):
            opened[name] = _decoded(str(opened[name]), name)
    return opened


def _decoded(text: str, what: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode()
    except (binascii.Error, ValueError):
        raise CannotTellError(f"{what} is not base64 of a text that can be read here") from None


def _texts(value: Any, path: str, name: str) -> Found:
    """(path, name of the variable, text) of all texts inside."""
    if isinstance(value, Mapping):
        variable = value.get("name") or value.get("Name")
        for key, inner in value.items():
            named = isinstance(variable, str) and str(key).lower() in ("value", "insecure_value")
            own = str(variable if named else key)
            yield from _texts(inner, f"{path}.{own}" if path else own, own)
    elif isinstance(value, list):
        for inner in value:
            yield from _texts(inner, path, name)
    elif isinstance(value, str):
        inside = _json(value)
        if inside is None:
            yield path, name, value
        else:
            yield from _texts(inside, path, name)


def _json(text: str) -> Any:
    """The object or list that a text is, if it is one."""
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _is_secret(name: str, value: str) -> bool:
    words = _CAPITAL.sub("_", name).replace("-", "_").replace("/", "_").lower()
    return bool(
        value.strip()
        and "${" not in value
        and not value.startswith("arn:")
        and SECRET_NAME.search(words)
        and not PLACE_NAME.search(words)
    )
