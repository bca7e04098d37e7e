"""Run inside LocalStack: services that it lacks, answered by the moto it carries.

A plugin: its entry points are written beside a copy of this file by localstack.py.
"""

from typing import Any

from localstack.aws.api import RequestContext
from localstack.aws.skeleton import Skeleton
from localstack.aws.spec import load_service
from localstack.services.moto import call_moto
from localstack.services.plugins import Service, aws_provider
from moto.backends import get_backend
from moto.batch.models import BatchBackend

SERVICE_ROLE = "AWSServiceRoleForBatch"
_create = BatchBackend.create_compute_environment


def _create_as_batch_itself(self: BatchBackend, **given: Any) -> Any:
    """AWS takes its service-linked role where none is given; moto refuses."""
    if not given.get("service_role"):
        given["service_role"] = _service_role(self).arn
    return _create(self, **given)


def _service_role(batch: BatchBackend) -> Any:
    for role in batch.iam_backend.roles.values():
        if role.name == SERVICE_ROLE:
            return role
    return batch.iam_backend.create_role(
        role_name=SERVICE_ROLE,
        assume_role_policy_document="{}",
        path="/aws-service-role/batch.amazonaws.com/",
        permissions_boundary=None,
        description="",
        tags=[],
        max_session_duration="3600",
    )


BatchBackend.create_compute_environment = _create_as_batch_itself


def _answered_by_moto(name: str, **more: Any) -> Service:
    model = load_service(name)
    table: dict[str, Any] = {**dict.fromkeys(model.operation_names, _proxy), **more}
    return Service(name, skeleton=Skeleton(model, table))


def _proxy(context: RequestContext, _: Any) -> Any:
    return call_moto(context)


@aws_provider(api="batch")
def batch() -> Service:
    return _answered_by_moto("batch")


@aws_provider(api="budgets")
def budgets() -> Service:
    return _answered_by_moto(
        "budgets",
        CreateBudget=_create_budget,
        ListTagsForResource=_budget_tags,
        DescribeSubscribersForNotification=_subscribers,
    )


BUDGET_TAGS: dict[str, Any] = {}


def _create_budget(context: RequestContext, request: Any) -> Any:
    """moto forgets the tags."""
    name = request["Budget"]["BudgetName"]
    BUDGET_TAGS[f"arn:aws:budgets::{request['AccountId']}:budget/{name}"] = request.get(
        "ResourceTags", []
    )
    return call_moto(context)


def _budget_tags(_: RequestContext, request: Any) -> dict[str, Any]:
    return {"ResourceTags": BUDGET_TAGS.get(request["ResourceARN"], [])}


def _subscribers(context: RequestContext, request: Any) -> dict[str, Any]:
    """moto keeps them and has no call that tells them."""
    budgets: Any = get_backend("budgets")
    budget = budgets[context.account_id]["global"].budgets[request["AccountId"]][
        request["BudgetName"]
    ]
    asked = _comparable(request["Notification"])
    return {
        "Subscribers": [
            subscriber
            for notification in budget.notifications
            if _comparable(notification.details) == asked
            for subscriber in notification.subscribers
        ]
    }


def _comparable(notification: Any) -> tuple[Any, ...]:
    names = ("NotificationType", "ComparisonOperator", "ThresholdType")
    return (*(notification.get(name) for name in names), float(notification["Threshold"]))


@aws_provider(api="ecr")
def ecr() -> Service:
    return _answered_by_moto("ecr")


@aws_provider(api="ecs")
def ecs() -> Service:
    """Batch makes a cluster for each environment."""
    return _answered_by_moto("ecs")


@aws_provider(api="autoscaling")
def autoscaling() -> Service:
    return _answered_by_moto("autoscaling")
