"""Platform: what a platform engineer chose for one AWS account and region (platform.yaml)."""

import ipaddress
import re
from collections.abc import Callable
from typing import Annotated, Any, Final, Literal, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator


def _matching(pattern: str, allowed: str) -> Callable[[str], str]:
    compiled = re.compile(pattern)

    def check(value: str) -> str:
        if compiled.fullmatch(value) is None:
            raise ValueError(f"must be {allowed}")
        return value

    return check


def _network(value: str) -> str:
    """Private, and of a size that three zones with room for machines fit into."""
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        raise ValueError("must be a network such as 10.42.0.0/20") from None
    if network.version != 4 or not network.is_private or not 16 <= network.prefixlen <= 22:
        raise ValueError("must be a private IPv4 network of /16 to /22, such as 10.42.0.0/20")
    return value


_DIGEST: Final = re.compile(r"[a-z0-9][a-z0-9._/:-]*@sha256:[0-9a-f]{64}")
_TAGGED: Final = re.compile(r"[a-z0-9][a-z0-9._/-]*(:\d+/[a-z0-9._/-]+)?:[A-Za-z0-9_][\w.-]{0,127}")

Account = Annotated[
    str, AfterValidator(_matching(r"\d{12}", "an AWS account of 12 digits, quoted"))
]
Region = Annotated[
    str, AfterValidator(_matching(r"[a-z]{2}(-[a-z]+)+-\d", "an AWS region such as us-east-1"))
]
ShortName = Annotated[
    str,
    AfterValidator(
        _matching(
            r"[a-z][a-z0-9-]{0,23}",
            "lower-case letters, digits and hyphens, start with a letter and have at most 24 "
            "characters",
        )
    ),
]
Bucket = Annotated[
    str,
    AfterValidator(
        _matching(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]", "a bucket's name, 3 to 63 characters, no dot")
    ),
]
Arn = Annotated[
    str, AfterValidator(_matching(r"arn:aws:[a-z0-9-]+:[^\s]+", "an ARN: arn:aws:service:…"))
]
VpcId = Annotated[str, AfterValidator(_matching(r"vpc-[0-9a-f]+", "a VPC's id: vpc-…"))]
SubnetId = Annotated[str, AfterValidator(_matching(r"subnet-[0-9a-f]+", "a subnet's id: subnet-…"))]
Cidr = Annotated[str, AfterValidator(_network)]
Email = Annotated[str, AfterValidator(_matching(r"[^@\s]+@[^@\s]+\.[^@\s]+", "an e-mail address"))]


class Section(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CreateNetwork(Section):
    """A VPC of its own, with private subnets only."""

    kind: Literal["create"]
    cidr: Cidr = Field("10.42.0.0/20", description="Addresses of the VPC.")
    zones: tuple[str, ...] = Field(
        (),
        description="Two or three availability zones. Absent: the region's `a` and `b`. Each zone "
        "pays for its endpoints; more zones find more spot machines.",
    )
    egress: Literal["none", "nat"] = Field(
        "none",
        description="`none`: AWS services through endpoints, nothing else. `nat`: a NAT gateway, "
        "for those who pull models from a hub.",
    )


class ExistingNetwork(Section):
    """A VPC that others look after, endpoints or NAT included."""

    kind: Literal["existing"]
    vpc: VpcId = Field(description="Its id, `vpc-…`.")
    subnets: tuple[SubnetId, ...] = Field(min_length=1, description="Private subnets.")
    cidr: Cidr = Field(description="Addresses of the VPC, for the security group's rules.")


Network = Annotated[CreateNetwork | ExistingNetwork, Field(discriminator="kind")]


class LocalState(Section):
    """Terraform's state in the working folder. For one person."""

    kind: Literal["local"]


class S3State(Section):
    """Terraform's state in a bucket, locked by S3 itself."""

    kind: Literal["s3"]
    bucket: Bucket = Field(description="It must exist, with versioning.")
    prefix: str = Field("gristmill", description="Folder of the state files in the bucket.")
    region: Region | None = Field(None, description="Absent: the platform's region.")


State = Annotated[LocalState | S3State, Field(discriminator="kind")]


class Ci(Section):
    """Who may plan and deploy from a pipeline, by OpenID Connect: no stored keys."""

    issuer: str = Field(
        "token.actions.githubusercontent.com", description="Host of the token's issuer."
    )
    audience: str = Field("sts.amazonaws.com", description="The token's `aud`.")
    deploy_subject: str = Field(
        min_length=1,
        description="Exact `sub` of a protected environment, as in "
        "`repo:owner/name:environment:production`.",
    )
    plan_subject: str = Field(min_length=1, description="Exact `sub` that may plan, read-only.")
    create_provider: bool = Field(
        True, description="False where the account has this issuer's provider already."
    )

    @model_validator(mode="after")
    def _exact(self) -> Self:
        for name in ("deploy_subject", "plan_subject"):
            if "*" in getattr(self, name):
                raise ValueError(
                    f"{name} must be one exact subject, without *: whoever matches may deploy"
                )
        if self.deploy_subject == self.plan_subject:
            raise ValueError("deploy_subject and plan_subject must differ: planning only reads")
        return self


class Keep(Section):
    """Days after which things go."""

    log_days: Literal[7, 14, 30, 60, 90, 180, 365] = Field(
        30, description="Log lines of workers, coordinators and the network."
    )
    run_days: int = Field(90, ge=1, description="Run directories: plans, parts, manifests.")
    old_version_days: int = Field(30, ge=1, description="Overwritten or deleted results.")


class ExistingBucket(Section):
    """A bucket that others look after; blueprints that name it get grants and nothing else."""

    key: Arn | None = Field(None, description="Its customer key. Absent: none.")


class Platform(Section):
    """One AWS account and region, for every blueprint that is deployed there."""

    version: Literal[1] = Field(description="Of this file's format.")
    account: Account = Field(description="Its 12 digits, quoted.")
    region: Region = Field("us-east-1", description="Where everything is made.")
    name: ShortName = Field("gristmill", description="Starts the names of what teams share.")
    image: str = Field(
        min_length=1,
        description="The worker's image by digest: `repository@sha256:…`. A repository without a "
        "registry is the one this platform makes.",
    )
    allow_image_tag: bool = Field(
        False, description="Take an image by tag: what runs may then change without a plan."
    )
    network: Network = Field(
        CreateNetwork(kind="create"), description="Where machines run: made here, or yours."
    )
    state: State = Field(
        LocalState(kind="local"), description="Where Terraform remembers what it made."
    )
    protect: bool = Field(
        True, description="Refuse to destroy buckets and keys. False: destroy deletes data."
    )
    existing_buckets: dict[Bucket, ExistingBucket] = Field(
        {}, description="Buckets that blueprints name and that must not be made here."
    )
    alerts: Email | None = Field(None, description="Who is told. Absent: a topic without readers.")
    ci: Ci | None = Field(
        None,
        description="Roles for a pipeline. Absent: a person deploys. Needs `permissions_boundary`.",
    )
    permissions_boundary: Arn | None = Field(
        None, description="Set on every role, and required of every role that CI makes."
    )
    keep: Keep = Keep()
    tags: dict[str, str] = Field({}, max_length=20, description="On everything, for the bill.")

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        self._check_image()
        zones = self.zones
        if isinstance(self.network, CreateNetwork):
            if not 2 <= len(set(zones)) <= 3 or len(set(zones)) != len(zones):
                raise ValueError(f"network.zones: got {list(zones)}, must be two or three zones")
            for zone in zones:
                if re.fullmatch(rf"{self.region}[a-z]", zone) is None:
                    raise ValueError(
                        f"network.zones: got {zone!r}, must be a zone of {self.region}, such as "
                        f"{self.region}a"
                    )
        if self.ci is not None and self.permissions_boundary is None:
            raise ValueError(
                "ci: needs permissions_boundary: the ARN of a policy that no role CI makes can "
                "exceed"
            )
        reserved = [tag for tag in self.tags if tag.startswith(("gristmill:", "aws:"))]
        if reserved:
            raise ValueError(f"tags: {reserved[0]!r} is reserved; choose another name")
        return self

    def _check_image(self) -> None:
        if _DIGEST.fullmatch(self.image):
            return
        if _TAGGED.fullmatch(self.image) is None:
            raise ValueError(
                f"image: got {self.image!r}, must be repository@sha256:<64 hexadecimal digits>"
            )
        if not self.allow_image_tag:
            raise ValueError(
                f"image: got {self.image!r}, a tag that may be moved; name the digest "
                "(repository@sha256:…), or set allow_image_tag: true"
            )

    @property
    def zones(self) -> tuple[str, ...]:
        """Zones of a network made here."""
        chosen = getattr(self.network, "zones", ())
        return chosen or (f"{self.region}a", f"{self.region}b")

    @property
    def registry(self) -> str:
        """This account's image registry."""
        return f"{self.account}.dkr.ecr.{self.region}.amazonaws.com"

    @property
    def image_uri(self) -> str:
        """The image as a container runtime is told it."""
        host = self.image.partition("/")[0] if "/" in self.image else ""
        return self.image if "." in host or ":" in host else f"{self.registry}/{self.image}"


def json_schema() -> dict[str, Any]:
    """The JSON Schema of platform.yaml, for editors and reviews."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **Platform.model_json_schema(),
    }
