"""Numbers that are read from the worker's event lines, and the graphs of them."""

from dataclasses import dataclass
from typing import Final

from gristmill.contract.process import ExitCode
from infra.constructs.dashboard import Graph
from infra.team import Team

NAMESPACE: Final = "Gristmill"


@dataclass(frozen=True, slots=True)
class Signal:
    """A sum over event lines that match."""

    metric: str
    pattern: str
    value: str


def _event(name: str, more: str = "") -> str:
    return f'{{ $.event = "{name}"{more} }}'


SIGNALS: Final = (
    Signal("Records", _event("part_published"), "$.counts.records"),
    Signal("Completed", _event("part_published"), "$.counts.ok"),
    Signal("EngineSeconds", _event("part_published"), "$.engine_seconds"),
    Signal("Shards", _event("shard_published"), "1"),
    Signal("Started", _event("loading"), "1"),
    Signal("Reclaims", _event("ended", f" && $.exit_code = {int(ExitCode.RECLAIMED)}"), "1"),
    Signal("DeadEngines", _event("ended", f" && $.exit_code = {int(ExitCode.ENGINE_DEAD)}"), "1"),
    Signal("Failures", _event("failed"), "1"),
)


def metric_name(team: Team, metric: str) -> str:
    """CloudWatch's filters can't add a constant dimension, so the blueprint is in the name."""
    return f"{team.name}/{metric}"


def graphs(team: Team, queue: str, dead: str) -> tuple[Graph, ...]:
    usd = min(m.usd_per_hour / m.gpus for m in team.worker.machines)

    def ours(metric: str, id_: str) -> tuple[object, ...]:
        return (NAMESPACE, metric_name(team, metric), {"id": id_, "visible": False})

    def math(expression: str, label: str) -> tuple[object, ...]:
        return ({"expression": expression, "label": label},)

    def shards(metric: str, id_: str, *, visible: bool = True) -> tuple[object, ...]:
        options = {"id": id_, "stat": "Maximum", "visible": visible}
        return ("AWS/SQS", metric, "QueueName", queue, options)

    held = shards("ApproximateNumberOfMessagesNotVisible", "held", visible=False)
    return (
        Graph("Items per second", (ours("Records", "r"), math("r / PERIOD(r)", "items/s"))),
        Graph(
            f"USD per 1,000 items, were each machine ${usd:.3f}/h",
            (ours("Records", "r"), held, math(f"held * {usd:.4f} / 60 / r * 1000", "USD")),
        ),
        Graph(
            "Shards waiting and at work",
            (
                shards("ApproximateNumberOfMessagesVisible", "waiting"),
                shards("ApproximateNumberOfMessagesNotVisible", "working"),
            ),
        ),
        Graph("Age of the oldest shard, seconds", (shards("ApproximateAgeOfOldestMessage", "a"),)),
        Graph("Workers at work (shards held)", (held, math("held", "workers"))),
        Graph(
            "Share of their time that GPUs compute, %",
            (ours("EngineSeconds", "e"), held, math("100 * e / PERIOD(e) / held", "busy")),
        ),
        Graph(
            "Reclaims, dead engines, starts",
            tuple(
                (NAMESPACE, metric_name(team, metric))
                for metric in ("Reclaims", "DeadEngines", "Started")
            ),
        ),
        Graph(
            "Rejected, %",
            (
                ours("Records", "r"),
                ours("Completed", "c"),
                math("100 * (r - c) / r", "rejected"),
            ),
        ),
        Graph(
            "Shards given up",
            (("AWS/SQS", "ApproximateNumberOfMessagesVisible", "QueueName", dead),),
            stat="Maximum",
        ),
    )
