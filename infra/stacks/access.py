"""Who submits runs, and the record they find everything by."""

from cdktn import App
from cdktn_provider_aws.ssm_parameter import SsmParameter

from gristmill import __version__
from gristmill.contract.deployment import Definition, Deployment, Roles, parameter_name
from infra.constructs.job_grants import grant_submit
from infra.constructs.role import JobRole
from infra.policy import Statement, trust_account
from infra.stacks.base import PlatformStack
from infra.stacks.compute import ComputeStack
from infra.stacks.data import DataStack
from infra.team import Team

SUBMITTER_HOURS = 8


class AccessStack(PlatformStack):
    def __init__(self, app: App, team: Team, data: DataStack, compute: ComputeStack) -> None:
        super().__init__(app, team.name, "access", team.platform, team.tags)
        submitter = self._submitter(team, data, compute)
        coordinator = compute.coordinator
        record = Deployment(
            gristmill=__version__,
            account=team.platform.account,
            region=team.platform.region,
            blueprint=team.name,
            team=team.team,
            image=team.platform.image_uri,
            work_queue=compute.queue.url,
            dead_letters=compute.queue.dead_url,
            worker=Definition(arn=compute.worker.reference, queue=compute.gpu.reference),
            coordinator=Definition(arn=coordinator.definition, queue=coordinator.queue)
            if coordinator
            else None,
            share=team.share,
            max_workers=team.blueprint.capacity.max_workers,
            input=team.input.uri,
            output=team.output.uri,
            runs=team.runs.uri,
            models=team.models.uri,
            roles=Roles(
                submitter=submitter.arn,
                job=compute.job.arn,
                coordinator=coordinator.role.arn if coordinator else None,
            ),
            logs=team.log_group,
        )
        SsmParameter(
            self,
            "deployment",
            name=parameter_name(team.name),
            description="Where the client finds this deployment",
            type="String",
            value=record.model_dump_json(indent=None),
        )

    def _submitter(self, team: Team, data: DataStack, compute: ComputeStack) -> JobRole:
        """Of the team's people: plan, submit, watch, stop, read results."""
        role = JobRole(
            self,
            "submitter",
            name=f"{team.name}-submitter",
            account=team.platform.account,
            description=f"People of {team.team} who submit {team.name}",
            trust=trust_account(team.platform.account),
            boundary=team.platform.permissions_boundary,
            max_hours=SUBMITTER_HOURS,
        )
        data.input.grant_read(role, "read-input", prefix=team.input.prefix)
        data.output.grant_read(role, "read-output", prefix=team.output.prefix)
        data.runs.grant_write(role, "write-runs")
        compute.queue.grant_fill(role, "fill-queue")
        grant_submit(
            role,
            "submit-workers",
            team,
            queue=compute.gpu.name,
            definitions=(compute.worker.name,),
        )
        if compute.coordinator is not None:
            compute.coordinator.grant_start(role, "submit-coordinator")
        role.allow(
            "look",
            [
                Statement(
                    ("ssm:GetParameter",),
                    (team.arn("ssm", f"parameter{parameter_name(team.name)}"),),
                ),
                Statement(
                    ("logs:GetLogEvents", "logs:FilterLogEvents"),
                    (team.arn("logs", f"log-group:{team.log_group}:*"),),
                ),
            ],
        )
        return role
