"""What a pipeline may do: read what plans compare, and make, change and remove what stacks hold.

Terraform's own calls decide the list: a test records them and holds this file against them.
"""

from collections.abc import Sequence
from typing import Final

from gristmill.contract.deployment import TAG_PLATFORM, parameter_name
from gristmill.contract.platform import Platform, S3State
from infra.policy import Conditions, Statement
from infra.team import Team, logs_bucket

PASSED_TO: Final = (
    "batch.amazonaws.com",
    "ec2.amazonaws.com",
    "ecs-tasks.amazonaws.com",
    "scheduler.amazonaws.com",
    "vpc-flow-logs.amazonaws.com",
)
_DESCRIBING = "AWS can't limit describing and listing here to some resources"
_NAMELESS = "what is made has no name yet"

_READ: Final[dict[str, tuple[str, ...]]] = {
    "budgets": ("ViewBudget", "ListTagsForResource"),
    "cloudwatch": ("DescribeAlarms", "GetDashboard", "ListTagsForResource"),
    "ecr": ("DescribeRepositories", "GetLifecyclePolicy", "ListTagsForResource"),
    "events": ("DescribeRule", "ListTagsForResource", "ListTargetsByRule"),
    "iam": (
        "GetInstanceProfile",
        "GetRole",
        "GetRolePolicy",
        "GetOpenIDConnectProvider",
        "ListAttachedRolePolicies",
        "ListInstanceProfilesForRole",
        "ListRolePolicies",
    ),
    "kms": ("DescribeKey", "GetKeyPolicy", "GetKeyRotationStatus", "ListResourceTags"),
    "logs": ("DescribeMetricFilters", "ListTagsForResource"),
    "s3": (
        "GetAccelerateConfiguration",
        "GetBucketAcl",
        "GetBucketCORS",
        "GetBucketLogging",
        "GetBucketObjectLockConfiguration",
        "GetBucketOwnershipControls",
        "GetBucketPolicy",
        "GetBucketPublicAccessBlock",
        "GetBucketRequestPayment",
        "GetBucketTagging",
        "GetBucketVersioning",
        "GetBucketWebsite",
        "GetEncryptionConfiguration",
        "GetLifecycleConfiguration",
        "GetReplicationConfiguration",
        "ListBucket",
    ),
    "scheduler": ("GetSchedule",),
    "sns": ("GetTopicAttributes", "ListTagsForResource"),
    "sqs": ("GetQueueAttributes", "ListQueueTags"),
    "ssm": ("GetParameter", "ListTagsForResource"),
}
_DESCRIBE: Final = (
    "batch:DescribeComputeEnvironments",
    "batch:DescribeJobDefinitions",
    "batch:DescribeJobQueues",
    "batch:DescribeSchedulingPolicies",
    "ec2:DescribeFlowLogs",
    "ec2:DescribeLaunchTemplateVersions",
    "ec2:DescribeLaunchTemplates",
    "ec2:DescribeNetworkAcls",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribePrefixLists",
    "ec2:DescribeRouteTables",
    "ec2:DescribeSecurityGroupRules",
    "ec2:DescribeSecurityGroups",
    "ec2:DescribeSubnets",
    "ec2:DescribeVpcEndpoints",
    "ec2:DescribeVpcs",
    "kms:ListAliases",
    "logs:DescribeLogGroups",
    "sns:GetSubscriptionAttributes",
    "ssm:DescribeParameters",
)
_DESCRIBE_NAT: Final = (
    "ec2:DescribeAddresses",
    "ec2:DescribeAddressesAttribute",
    "ec2:DescribeInternetGateways",
    "ec2:DescribeNatGateways",
)
_WRITE: Final[dict[str, tuple[str, ...]]] = {
    "batch": (
        "CreateComputeEnvironment",
        "CreateJobQueue",
        "CreateSchedulingPolicy",
        "DeleteComputeEnvironment",
        "DeleteJobQueue",
        "DeleteSchedulingPolicy",
        "DeregisterJobDefinition",
        "RegisterJobDefinition",
        "TagResource",
        "UpdateComputeEnvironment",
        "UpdateJobQueue",
    ),
    "budgets": ("ModifyBudget", "TagResource"),
    "cloudwatch": (
        "DeleteAlarms",
        "DeleteDashboards",
        "PutDashboard",
        "PutMetricAlarm",
        "TagResource",
    ),
    "ecr": (
        "CreateRepository",
        "DeleteLifecyclePolicy",
        "DeleteRepository",
        "PutLifecyclePolicy",
        "TagResource",
    ),
    "events": ("DeleteRule", "PutRule", "PutTargets", "RemoveTargets", "TagResource"),
    "logs": (
        "CreateLogGroup",
        "DeleteLogGroup",
        "DeleteMetricFilter",
        "PutMetricFilter",
        "PutRetentionPolicy",
        "TagResource",
    ),
    "s3": (
        "CreateBucket",
        "DeleteBucket",
        "DeleteBucketPolicy",
        "PutBucketLogging",
        "PutBucketOwnershipControls",
        "PutBucketPolicy",
        "PutBucketPublicAccessBlock",
        "PutBucketTagging",
        "PutBucketVersioning",
        "PutEncryptionConfiguration",
        "PutLifecycleConfiguration",
    ),
    "scheduler": ("CreateSchedule", "DeleteSchedule", "UpdateSchedule"),
    "sns": (
        "CreateTopic",
        "DeleteTopic",
        "SetTopicAttributes",
        "Subscribe",
        "TagResource",
    ),
    "sqs": ("CreateQueue", "DeleteQueue", "SetQueueAttributes", "TagQueue"),
    "ssm": ("AddTagsToResource", "DeleteParameter", "PutParameter"),
}
_BATCH: Final = ("compute-environment", "job-definition", "job-queue", "scheduling-policy")
_NETWORK: Final = (
    "AssociateRouteTable",
    "AuthorizeSecurityGroupEgress",
    "AuthorizeSecurityGroupIngress",
    "CreateFlowLogs",
    "CreateLaunchTemplate",
    "CreateLaunchTemplateVersion",
    "CreateRouteTable",
    "CreateSecurityGroup",
    "CreateSubnet",
    "CreateTags",
    "CreateVpc",
    "CreateVpcEndpoint",
    "DisassociateRouteTable",
    "ModifyVpcAttribute",
    "RevokeSecurityGroupEgress",
    "RevokeSecurityGroupIngress",
)
_NETWORK_NAT: Final = (
    "AllocateAddress",
    "AttachInternetGateway",
    "CreateInternetGateway",
    "CreateNatGateway",
    "CreateRoute",
    "DeleteRoute",
    "DetachInternetGateway",
    "DisassociateAddress",
)
_NETWORK_REMOVAL: Final = (
    "DeleteFlowLogs",
    "DeleteLaunchTemplate",
    "DeleteRouteTable",
    "DeleteSecurityGroup",
    "DeleteSubnet",
    "DeleteVpc",
    "DeleteVpcEndpoints",
    "ModifyLaunchTemplate",
    "ModifyVpcEndpoint",
)
_NETWORK_REMOVAL_NAT: Final = ("DeleteInternetGateway", "DeleteNatGateway", "ReleaseAddress")
_ROLES: Final = ("CreateRole", "PutRolePolicy", "DeleteRolePolicy")
_ROLE_REMOVAL: Final = (
    "AddRoleToInstanceProfile",
    "CreateInstanceProfile",
    "DeleteInstanceProfile",
    "DeleteRole",
    "RemoveRoleFromInstanceProfile",
    "TagInstanceProfile",
    "TagRole",
)


def plan_statements(platform: Platform, teams: Sequence[Team]) -> list[Statement]:
    """Reading settings, never data."""
    nat = _DESCRIBE_NAT if _has_nat(platform) else ()
    named = [
        Statement(
            tuple(f"{service}:{action}" for action in actions), _resources(platform, teams, service)
        )
        for service, actions in _READ.items()
    ]
    return [
        *named,
        Statement(("ec2:DescribeVpcAttribute",), (_arn(platform, "ec2", "vpc/*"),)),
        Statement((*_DESCRIBE, *nat), ("*",), reason=_DESCRIBING),
    ]


def deploy_statements(platform: Platform, teams: Sequence[Team]) -> dict[str, list[Statement]]:
    """By what they are for. Roles stay within the boundary, or can't be made."""
    named = [
        Statement(
            tuple(f"{service}:{action}" for action in actions), _resources(platform, teams, service)
        )
        for service, actions in _WRITE.items()
    ]
    return {
        "change-resources": [
            *named,
            Statement(("sns:Unsubscribe",), ("*",), reason="AWS can't limit it to some topics"),
        ],
        "change-network": _network(platform),
        "change-keys": _keys(platform, teams),
        "change-roles": _roles(platform, teams),
    }


def state_statements(platform: Platform, *, write: bool) -> list[Statement]:
    """Terraform's own files: the state, and its lock, which lies beside it."""
    state = platform.state
    if not isinstance(state, S3State):
        return []
    bucket = f"arn:aws:s3:::{state.bucket}"
    prefix = state.prefix.strip("/")
    below: Conditions = {"StringLike": {"s3:prefix": [f"{prefix}/*"]}}
    change = ("s3:PutObject", "s3:DeleteObject")
    return [
        Statement(("s3:ListBucket",), (bucket,), below),
        Statement(("s3:GetObject", *(change if write else ())), (f"{bucket}/{prefix}/*",)),
    ]


def _has_nat(platform: Platform) -> bool:
    return getattr(platform.network, "egress", "none") == "nat"


def _network(platform: Platform) -> list[Statement]:
    here = (f"arn:aws:ec2:{platform.region}:{platform.account}:*",)
    ours: Conditions = {"StringEquals": {f"aws:ResourceTag/{TAG_PLATFORM}": platform.name}}
    nat = _has_nat(platform)
    make = (*_NETWORK, *(_NETWORK_NAT if nat else ()))
    remove = (*_NETWORK_REMOVAL, *(_NETWORK_REMOVAL_NAT if nat else ()))
    return [
        Statement(tuple(f"ec2:{action}" for action in make), here),
        Statement(tuple(f"ec2:{action}" for action in remove), here, ours),
    ]


def _keys(platform: Platform, teams: Sequence[Team]) -> list[Statement]:
    ours = {f"aws:ResourceTag/{TAG_PLATFORM}": platform.name}
    tagged = {f"aws:RequestTag/{TAG_PLATFORM}": platform.name}
    keys = f"arn:aws:kms:{platform.region}:{platform.account}:key/*"
    aliases = _named(platform, teams, "kms", "alias/gristmill/")
    change = ("EnableKeyRotation", "PutKeyPolicy", "ScheduleKeyDeletion", "TagResource")
    # Not our doing: encrypting a log group, a topic or a repository asks for a grant on the key.
    lend = ("CreateGrant", "Decrypt", "GenerateDataKey")
    return [
        Statement(("kms:CreateKey",), ("*",), {"StringEquals": dict(tagged)}, reason=_NAMELESS),
        Statement(
            tuple(f"kms:{action}" for action in (*change, *lend)),
            (keys,),
            {"StringEquals": dict(ours)},
        ),
        Statement(("kms:CreateAlias", "kms:DeleteAlias"), (*aliases, keys)),
    ]


def _roles(platform: Platform, teams: Sequence[Team]) -> list[Statement]:
    roles = _iam(platform, teams, "role")
    boundary: dict[str, str | list[str]] = (
        {"iam:PermissionsBoundary": platform.permissions_boundary}
        if platform.permissions_boundary
        else {}
    )
    everyone = (*roles, *_iam(platform, teams, "instance-profile"))
    return [
        Statement(tuple(f"iam:{action}" for action in _ROLES), roles, {"StringEquals": boundary}),
        Statement(tuple(f"iam:{action}" for action in _ROLE_REMOVAL), everyone),
        Statement(
            ("iam:PassRole",),
            _passed(platform, teams),
            {"StringEquals": {"iam:PassedToService": list(PASSED_TO)}},
        ),
        Statement(
            ("iam:CreateServiceLinkedRole",),
            (
                f"arn:aws:iam::{platform.account}:role/aws-service-role/batch.amazonaws.com/"
                "AWSServiceRoleForBatch",
            ),
        ),
    ]


def _passed(platform: Platform, teams: Sequence[Team]) -> tuple[str, ...]:
    """Roles that services take, one by one: others of a team's name may be somebody's own."""
    flows = f"arn:aws:iam::{platform.account}:role/{platform.name}-flows"
    uses = ("coordinator", "execution", "instance", "job", "scheduler")
    return (flows, *(team.role_arn(use) for team in teams for use in uses))


def _resources(platform: Platform, teams: Sequence[Team], service: str) -> tuple[str, ...]:
    """What stacks name, service by service."""
    account = platform.account
    by_team: dict[str, tuple[str, ...]] = {
        "batch": tuple(f"{kind}/{{}}*" for kind in _BATCH),
        "events": ("rule/{}-blocked",),
        "scheduler": ("schedule/default/{}",),
        "sns": ("{}-*",),
        "sqs": ("{}-*",),
        "ssm": (f"parameter{parameter_name('{}')}",),
    }
    if service in by_team:
        named = by_team[service]
        return tuple(team.arn(service, n.format(team.name)) for team in teams for n in named)
    boards = tuple(f"arn:aws:cloudwatch::{account}:dashboard/{team.name}" for team in teams)
    issuer = platform.ci.issuer if platform.ci else ""
    return {
        "budgets": tuple(f"arn:aws:budgets::{account}:budget/{team.name}" for team in teams),
        "cloudwatch": (
            *boards,
            *(team.arn("cloudwatch", f"alarm:{team.name}-*") for team in teams),
        ),
        "ecr": (_arn(platform, "ecr", f"repository/{platform.name}/worker"),),
        "iam": (
            *_iam(platform, teams, "role"),
            *_iam(platform, teams, "instance-profile"),
            *((f"arn:aws:iam::{account}:oidc-provider/{issuer}",) if issuer else ()),
        ),
        "kms": (_arn(platform, "kms", "key/*"),),
        "logs": _named(platform, teams, "logs", "log-group:/gristmill/"),
        "s3": tuple(f"arn:aws:s3:::{name}" for name in _buckets(teams)),
    }[service]


def _named(platform: Platform, teams: Sequence[Team], service: str, kind: str) -> tuple[str, ...]:
    names = (platform.name, *(team.name for team in teams))
    return tuple(_arn(platform, service, f"{kind}{name}*") for name in names)


def _iam(platform: Platform, teams: Sequence[Team], kind: str) -> tuple[str, ...]:
    """The platform's own roles are named one by one: `<platform>-*` might be anyone's."""
    own = ("flows",) if kind == "role" else ()
    names = (
        *(f"{platform.name}-{use}" for use in own),
        *(f"{team.name}-*" for team in teams),
    )
    return tuple(f"arn:aws:iam::{platform.account}:{kind}/{name}" for name in names)


def _buckets(teams: Sequence[Team]) -> tuple[str, ...]:
    made = {
        place.bucket
        for team in teams
        for place in (team.input, team.output, team.runs, team.models)
        if not place.existing
    }
    return tuple(sorted(made | {logs_bucket(team) for team in teams}))


def _arn(platform: Platform, service: str, resource: str) -> str:
    return f"arn:aws:{service}:{platform.region}:{platform.account}:{resource}"
