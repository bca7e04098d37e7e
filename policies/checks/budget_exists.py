"""Somebody hears before a blueprint has cost more than it may."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.provider import BLUEPRINT, blueprint, same_blueprint
from policies.reading.stack import Resource, blocks, literal
from policies.reading.value import number


class BudgetExists(Check):
    title = "Each blueprint has a budget on its own costs that tells somebody"
    risk = "A run that costs too much is noticed with the bill."
    remedy = (
        "Set budget.max_usd in blueprint.yaml: infra/stacks/observability.py makes the budget then."
    )
    source = (
        "https://docs.aws.amazon.com/cost-management/latest/userguide/budgets-managing-costs.html"
    )
    resources = ("aws_batch_job_definition",)
    chosen_by = "budget.max_usd"

    def faults(self, resource: Resource) -> Iterator[str]:
        if "EC2" not in (resource.conf.get("platform_capabilities") or ["EC2"]):
            return
        budgets = same_blueprint(resource, "aws_budgets_budget")
        if not budgets:
            yield f"blueprint {blueprint(resource.stack)} has no aws_budgets_budget"
        found = [list(_faults(budget)) for budget in budgets]
        if all(found):
            for faults in found:
                yield from faults


def _faults(budget: Resource) -> Iterator[str]:
    limit = budget.conf.get("limit_amount")
    if limit is None or number(limit, f"{budget.path}: limit_amount") <= 0:
        yield f"{budget.path}: limit_amount is {limit}, must be more than 0"
    wanted = f"user:{BLUEPRINT}${blueprint(budget.stack)}"
    values = [
        literal(value, f"{budget.path}: cost_filter")
        for cost in budget.blocks("cost_filter")
        if cost.get("name") == "TagKeyValue"
        for value in cost.get("values") or []
    ]
    if values != [wanted]:
        yield f"{budget.path}: cost_filter TagKeyValue is {values}, must be [{wanted}]"
    told = ("subscriber_sns_topic_arns", "subscriber_email_addresses")
    if not any(n.get(name) for n in blocks(budget.conf, "notification") for name in told):
        yield f"{budget.path}: no notification has a subscriber"
