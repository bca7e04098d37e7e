"""What every stack has: a provider for one account and region, tags, and a place for its state."""

from collections.abc import Mapping

from cdktn import App, LocalBackend, S3Backend, TerraformStack
from cdktn_provider_aws.provider import AwsProvider, AwsProviderDefaultTags
from constructs import Construct

from gristmill.contract.platform import Platform, S3State
from infra.constructs.role import JobRole
from infra.policy import trust_service
from infra.team import Team


class PlatformStack(TerraformStack):
    """`<owner>-<part>`: the owner is a blueprint, or the platform for what all of them share."""

    def __init__(
        self, app: App, owner: str, part: str, platform: Platform, tags: Mapping[str, str]
    ) -> None:
        name = f"{owner}-{part}"
        super().__init__(app, name)
        AwsProvider(
            self,
            "aws",
            region=platform.region,
            allowed_account_ids=[platform.account],
            default_tags=[AwsProviderDefaultTags(tags=dict(tags))],
        )
        state = platform.state
        if isinstance(state, S3State):
            S3Backend(
                self,
                bucket=state.bucket,
                key=f"{state.prefix.strip('/')}/{name}.tfstate",
                region=state.region or platform.region,
                encrypt=True,
                use_lockfile=True,
            )
        else:
            # From cdktf.out/stacks/<name>, where Terraform runs, to the project's own folder.
            LocalBackend(self, path=f"../../../terraform.{name}.tfstate")


def service_role(scope: Construct, team: Team, use: str, description: str, service: str) -> JobRole:
    """A team's role that an AWS service takes."""
    platform = team.platform
    return JobRole(
        scope,
        f"{use}-role",
        name=f"{team.name}-{use}",
        account=platform.account,
        description=description,
        # EC2 doesn't say for which account it asks: it can only be this one.
        trust=trust_service(
            service, platform.account, confused_deputy=service != "ec2.amazonaws.com"
        ),
        boundary=platform.permissions_boundary,
    )
