"""What machines and the container agent may do: nothing that jobs may."""

from infra.policy import Conditions, Statement
from infra.team import Team

_LOGIN = "the registry's login has no resource"
_DISCOVERY = "finding the agent's endpoint has no resource"
_PULL = ("ecr:BatchCheckLayerAvailability", "ecr:BatchGetImage", "ecr:GetDownloadUrlForLayer")


def execution_statements(team: Team) -> list[Statement]:
    """Starting a container: its image, its log stream."""
    streams = Statement(
        ("logs:CreateLogStream", "logs:PutLogEvents"),
        (team.arn("logs", f"log-group:{team.log_group}:*"),),
    )
    return [*_image_statements(team), streams]


def instance_statements(team: Team) -> list[Statement]:
    """The agent's side of the clusters that AWS Batch makes for this team's environments. Images
    and logs are the execution role's, which every definition names."""
    clusters = [
        team.arn("ecs", f"cluster/{pattern}")
        for pattern in (f"AWSBatch-{team.name}-*", f"{team.name}-*_Batch_*")
    ]
    instances = [
        team.arn("ecs", f"container-instance/{pattern}/*")
        for pattern in (f"AWSBatch-{team.name}-*", f"{team.name}-*_Batch_*")
    ]
    on_cluster: Conditions = {"ArnLike": {"ecs:cluster": clusters}}
    return [
        Statement(("ecs:DiscoverPollEndpoint",), ("*",), reason=_DISCOVERY),
        Statement(
            (
                "ecs:RegisterContainerInstance",
                "ecs:DeregisterContainerInstance",
                "ecs:SubmitContainerStateChange",
                "ecs:SubmitTaskStateChange",
                "ecs:SubmitAttachmentStateChanges",
            ),
            tuple(clusters),
        ),
        Statement(
            ("ecs:Poll", "ecs:StartTelemetrySession", "ecs:UpdateContainerInstancesState"),
            tuple(instances),
            on_cluster,
        ),
    ]


def _image_statements(team: Team) -> list[Statement]:
    """Nothing for an image that another registry holds."""
    if team.repository is None:
        return []
    return [
        Statement(("ecr:GetAuthorizationToken",), ("*",), reason=_LOGIN),
        Statement(_PULL, (team.arn("ecr", f"repository/{team.repository}"),)),
    ]
