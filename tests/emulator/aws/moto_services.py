"""Run inside LocalStack: services that it lacks, answered by the moto it carries.

A plugin: its entry points are written beside a copy of this file by localstack.py.
"""

from typing import Any

from localstack.aws.api import RequestContext
from localstack.aws.skeleton import Skeleton
from localstack.aws.spec import load_service
from localstack.services.moto import call_moto
from localstack.services.plugins import Service, aws_provider


def _answered_by_moto(name: str) -> Service:
    model = load_service(name)
    table: dict[str, Any] = dict.fromkeys(model.operation_names, _proxy)
    return Service(name, skeleton=Skeleton(model, table))


def _proxy(context: RequestContext, _: Any) -> Any:
    return call_moto(context)


@aws_provider(api="batch")
def batch() -> Service:
    return _answered_by_moto("batch")


@aws_provider(api="budgets")
def budgets() -> Service:
    return _answered_by_moto("budgets")


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
