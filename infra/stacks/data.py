"""A team's buckets and their key."""

from cdktn import App

from infra.constructs.key import Key
from infra.constructs.object_area import AccessLogs, ExistingArea, Keeping, ObjectArea
from infra.stacks.base import PlatformStack
from infra.team import Place, Team, logs_bucket


class DataStack(PlatformStack):
    """`areas` are what other stacks ask for grants."""

    def __init__(self, app: App, team: Team) -> None:
        platform = team.platform
        super().__init__(app, team.name, "data", platform, team.tags)
        self._team = team
        key = Key(
            self,
            "key",
            name=team.name,
            account=platform.account,
            region=platform.region,
            log_groups=team.log_group,
            protect=platform.protect,
        )
        self.key = key.arn
        self._logs = AccessLogs(
            self,
            "access-logs",
            bucket=logs_bucket(team),
            account=platform.account,
            days=platform.keep.log_days,
            protect=platform.protect,
        )
        keep = platform.keep
        results = Keeping(old_version_days=keep.old_version_days)
        runs = Keeping(object_days=keep.run_days, old_version_days=keep.old_version_days)
        self.input = self._area("input", team.input, results)
        self.output = (
            self.input
            if team.output.bucket == team.input.bucket
            else self._area("output", team.output, results)
        )
        self.runs = self._area("runs", team.runs, runs)
        self.models = self._area("models", team.models, results)

    def _area(self, id_: str, place: Place, keeping: Keeping) -> ObjectArea | ExistingArea:
        region = self._team.platform.region
        if place.existing:
            return ExistingArea(place.bucket, place.key, region)
        return ObjectArea(
            self,
            id_,
            bucket=place.bucket,
            key=self.key,
            region=region,
            logs=self._logs,
            keeping=keeping,
            protect=self._team.platform.protect,
        )
