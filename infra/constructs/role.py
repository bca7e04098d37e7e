"""A role that is born without any permission, and gets each by a named grant."""

from collections.abc import Sequence

from cdktn import ITerraformDependable
from cdktn_provider_aws.iam_policy import IamPolicy
from cdktn_provider_aws.iam_role import IamRole
from cdktn_provider_aws.iam_role_policy import IamRolePolicy
from cdktn_provider_aws.iam_role_policy_attachment import IamRolePolicyAttachment
from constructs import Construct

from gristmill.contract.errors import ConfigError
from infra.policy import Statement, document

POLICY_LIMIT = 6_144


class JobRole(Construct):
    """Who a process in AWS is. `arn` is spelled from its name: nothing waits for it to be known."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        account: str,
        description: str,
        trust: str,
        boundary: str | None,
        max_hours: int = 1,
    ) -> None:
        super().__init__(scope, id_)
        self.name = name
        self.arn = f"arn:aws:iam::{account}:role/{name}"
        self._resource = IamRole(
            self,
            "role",
            name=name,
            description=description,
            assume_role_policy=trust,
            permissions_boundary=boundary,
            max_session_duration=max_hours * 3600,
        )
        self._grants: list[IamRolePolicy] = []

    def allow(self, grant: str, statements: Sequence[Statement]) -> None:
        """One inline policy, named after what it is for."""
        self._grants.append(
            IamRolePolicy(
                self,
                grant,
                name=grant,
                role=self._resource.name,
                policy=document(statements),
            )
        )

    def allow_much(self, grant: str, statements: Sequence[Statement]) -> None:
        """A policy of its own, for permissions that grow with the number of teams: all inline
        policies of a role together hold 10,240 characters, each of these 6,144."""
        policy = document(statements)
        if len(policy) > POLICY_LIMIT:
            raise ConfigError(
                f"blueprints: role {self.name} would need {len(policy)} characters to {grant}, AWS "
                f"takes {POLICY_LIMIT}; split the blueprints over two platforms"
            )
        made = IamPolicy(self, f"{grant}-policy", name=f"{self.name}-{grant}", policy=policy)
        IamRolePolicyAttachment(self, grant, role=self._resource.name, policy_arn=made.arn)

    @property
    def complete(self) -> list[ITerraformDependable]:
        """What must be there before anyone takes the role, and go after everyone has left it."""
        return [self._resource, *self._grants]

    @property
    def reference(self) -> str:
        """Its ARN, for those that must wait for the role to exist."""
        return self._resource.arn

    @property
    def name_reference(self) -> str:
        """Its name, for those that must wait for the role to exist."""
        return self._resource.name
