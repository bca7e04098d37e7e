"""Blueprint + Platform -> Team: everything the stacks need, decided and checked before any exists.

Every name is concrete, so an ARN never depends on what a cloud answers, and a review can read it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from gristmill.contract.blueprint import Blueprint
from gristmill.contract.catalogue import InstanceType, aws_instance_types
from gristmill.contract.deployment import TAG_BLUEPRINT, TAG_PLATFORM, TAG_TEAM
from gristmill.contract.errors import ConfigError
from gristmill.contract.location import locate
from gristmill.contract.platform import Platform

BUCKET_NAME_LIMIT: Final = 63
DAY: Final = 86_400
SHORTEST_TIMEOUT: Final = 60
HOST_SHARE: Final = (15_000, 16_384)
"""Memory that jobs get of a machine's: the rest is the operating system's and the agent's."""


@dataclass(frozen=True, slots=True)
class Place:
    """A prefix of a bucket. `key` is the customer key of an existing bucket."""

    bucket: str
    prefix: str
    existing: bool
    key: str | None = None

    @property
    def uri(self) -> str:
        return f"s3://{self.bucket}/{self.prefix}"


@dataclass(frozen=True, slots=True)
class WorkerShape:
    """What one worker takes, such that every machine of the list has room for it."""

    machines: tuple[InstanceType, ...]
    vcpus: int
    memory_mib: int
    max_vcpus: int


@dataclass(frozen=True, slots=True)
class Team:
    """One blueprint in one platform."""

    blueprint: Blueprint
    platform: Platform
    team: str
    worker: WorkerShape
    purchase: tuple[str, ...]
    """SPOT, EC2, or both, in the order of use."""
    timeout_seconds: int
    input: Place
    output: Place
    runs: Place
    models: Place

    @property
    def name(self) -> str:
        return self.blueprint.name

    @property
    def share(self) -> str:
        """A share identifier takes letters and digits only."""
        return self.team.replace("-", "")

    @property
    def tags(self) -> dict[str, str]:
        return {**platform_tags(self.platform), TAG_BLUEPRINT: self.name, TAG_TEAM: self.team}

    def arn(self, service: str, resource: str) -> str:
        return f"arn:aws:{service}:{self.platform.region}:{self.platform.account}:{resource}"

    def role_arn(self, role: str) -> str:
        return f"arn:aws:iam::{self.platform.account}:role/{self.name}-{role}"

    @property
    def log_group(self) -> str:
        return f"/gristmill/{self.name}"

    @property
    def repository(self) -> str | None:
        """Name of the image's repository in this account; None for an image from elsewhere."""
        registry, _, rest = self.platform.image_uri.partition("/")
        return (
            rest.partition("@")[0].partition(":")[0] if registry == self.platform.registry else None
        )


def platform_tags(platform: Platform) -> dict[str, str]:
    return {**platform.tags, TAG_PLATFORM: platform.name}


def resolve(platform: Platform, blueprints: Sequence[tuple[str, Blueprint]]) -> tuple[Team, ...]:
    """Check everything and decide everything. The text beside each blueprint names its file.

    Raises ConfigError with one line per fault: file, path, what came, what is allowed.
    """
    teams: list[Team] = []
    faults: list[str] = []
    for source, blueprint in blueprints:
        try:
            teams.append(_team(platform, blueprint))
        except ConfigError as error:
            faults += [f"{source}: {line}" for line in str(error).splitlines()]
    if not blueprints:
        faults.append("no blueprint names capacity.gpus; nothing to deploy")
    faults += _clashes([source for source, _ in blueprints], [b for _, b in blueprints])
    if not faults:
        faults += _overlaps(teams)
    if faults:
        raise ConfigError("\n".join(faults))
    return tuple(teams)


def _team(platform: Platform, blueprint: Blueprint) -> Team:
    capacity = blueprint.capacity
    if not capacity.gpus:
        raise ConfigError(
            "capacity.gpus: is missing; name the GPUs that may do the work, such as [L4, L40S]"
        )
    _check_length(platform, blueprint.name)
    machines = aws_instance_types(capacity.gpus, platform.region)
    return Team(
        blueprint=blueprint,
        platform=platform,
        team=blueprint.team or blueprint.name,
        worker=_shape(machines, capacity.max_workers),
        purchase=_purchase(blueprint),
        timeout_seconds=max(SHORTEST_TIMEOUT, int(blueprint.deadline or DAY)),
        input=_place(platform, "input.uri", blueprint.input.uri),
        output=_place(platform, "output.uri", blueprint.output.uri),
        runs=_own_bucket(platform, blueprint.name, "runs"),
        models=_own_bucket(platform, blueprint.name, "models"),
    )


def _check_length(platform: Platform, name: str) -> None:
    longest = BUCKET_NAME_LIMIT - len(_bucket_name(platform, "", "models"))
    if len(name) > longest:
        raise ConfigError(
            f"name: got {name!r}, {len(name)} characters, must be at most {longest} in "
            f"{platform.region}: buckets are named after it"
        )


def _bucket_name(platform: Platform, name: str, use: str) -> str:
    return f"{name}-{use}-{platform.account}-{platform.region}"


def _own_bucket(platform: Platform, name: str, use: str) -> Place:
    return Place(_bucket_name(platform, name, use), f"{use}/", existing=False)


def logs_bucket(team: Team) -> str:
    """Name of the bucket for the access logs of the others."""
    return _bucket_name(team.platform, team.name, "logs")


def _shape(machines: tuple[InstanceType, ...], max_workers: int) -> WorkerShape:
    usable, whole = HOST_SHARE
    return WorkerShape(
        machines,
        vcpus=min(machine.vcpus_per_gpu for machine in machines),
        memory_mib=min(machine.memory_mib_per_gpu for machine in machines) * usable // whole,
        max_vcpus=max_workers * max(machine.vcpus_per_gpu for machine in machines),
    )


def _purchase(blueprint: Blueprint) -> tuple[str, ...]:
    capacity = blueprint.capacity
    chosen = ("SPOT",) * (capacity.spot is not None) + ("EC2",) * (capacity.on_demand is not None)
    if not chosen:
        raise ConfigError(
            "capacity: names neither spot nor on_demand; add `spot: {}`, `on_demand: {}`, or both"
        )
    return chosen


def _place(platform: Platform, path: str, uri: str) -> Place:
    if not uri.startswith("s3://"):
        raise ConfigError(
            f"{path}: got {uri!r}, must be s3://bucket/prefix: machines in AWS don't see "
            "the files of this one"
        )
    root = locate(uri.partition("{run}")[0]).root.removeprefix("s3://")
    bucket, _, prefix = root.partition("/")
    if not 3 <= len(bucket) <= BUCKET_NAME_LIMIT or "." in bucket:
        raise ConfigError(
            f"{path}: got bucket {bucket!r}, must have 3 to {BUCKET_NAME_LIMIT} characters, no dot"
        )
    existing = platform.existing_buckets.get(bucket)
    return Place(
        bucket,
        f"{prefix}/" if prefix else "",
        existing=existing is not None,
        key=existing.key if existing else None,
    )


def _clashes(sources: list[str], blueprints: list[Blueprint]) -> list[str]:
    faults = []
    seen: dict[str, str] = {}
    for source, blueprint in zip(sources, blueprints, strict=True):
        if blueprint.name in seen:
            faults.append(
                f"{source}: name: got {blueprint.name!r}, which {seen[blueprint.name]} has too; "
                "stacks are named after it, so each blueprint needs its own"
            )
        seen.setdefault(blueprint.name, source)
    return faults


def _overlaps(teams: list[Team]) -> list[str]:
    """Two owners of a bucket, or two writers of a prefix."""
    faults = []
    for index, team in enumerate(teams):
        for other in teams[:index]:
            faults += [
                f"{team.name}: bucket {bucket} would be made by {other.name} too; make it once and "
                "name it in existing_buckets of platform.yaml, or choose another bucket"
                for bucket in sorted(_made(team) & _made(other))
            ]
            mine, theirs = team.output.uri, other.output.uri
            if mine.startswith(theirs) or theirs.startswith(mine):
                faults.append(
                    f"{team.name}: output.uri: {mine} overlaps with {theirs}, where {other.name} "
                    "writes; give each blueprint a prefix of its own"
                )
    return faults


def _made(team: Team) -> set[str]:
    return {place.bucket for place in (team.input, team.output) if not place.existing}
