"""Who plans and deploys from a pipeline: by a token of an exact subject, with no stored key."""

from collections.abc import Sequence

from cdktn import App
from cdktn_provider_aws.iam_openid_connect_provider import IamOpenidConnectProvider

from gristmill.contract.platform import Ci, Platform
from infra.constructs.role import JobRole
from infra.pipeline_access import deploy_statements, plan_statements, state_statements
from infra.policy import trust_token
from infra.stacks.base import PlatformStack
from infra.team import Team, platform_tags


class PipelineStack(PlatformStack):
    def __init__(self, app: App, platform: Platform, ci: Ci, teams: Sequence[Team]) -> None:
        super().__init__(app, platform.name, "pipeline", platform, platform_tags(platform))
        self._platform, self._ci = platform, ci
        if ci.create_provider:
            IamOpenidConnectProvider(
                self, "issuer", url=f"https://{ci.issuer}", client_id_list=[ci.audience]
            )
        plan = self._role("plan", "Plans, and only reads", ci.plan_subject)
        plan.allow_much("read-resources", plan_statements(platform, teams))
        deploy = self._role("deploy", "Deploys, within the permissions boundary", ci.deploy_subject)
        deploy.allow_much("read-resources", plan_statements(platform, teams))
        for grant, statements in deploy_statements(platform, teams).items():
            deploy.allow_much(grant, statements)
        if state := state_statements(platform, write=False):
            plan.allow("read-state", state)
            deploy.allow("keep-state", state_statements(platform, write=True))

    def _role(self, use: str, description: str, subject: str) -> JobRole:
        platform, ci = self._platform, self._ci
        return JobRole(
            self,
            use,
            name=f"{platform.name}-ci-{use}",
            account=platform.account,
            description=description,
            trust=trust_token(platform.account, ci.issuer, ci.audience, subject),
            boundary=platform.permissions_boundary,
        )
