"""What a person looks at: one page, in the order of the questions they ask."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from cdktn_provider_aws.cloudwatch_dashboard import CloudwatchDashboard
from constructs import Construct

WIDTH = 12
HEIGHT = 6


@dataclass(frozen=True, slots=True)
class Graph:
    """`metrics` as CloudWatch's dashboards spell them."""

    title: str
    metrics: tuple[tuple[Any, ...], ...]
    stat: str = "Sum"


class Dashboard(Construct):
    """Two graphs a row."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        region: str,
        introduction: str,
        graphs: Sequence[Graph],
    ) -> None:
        super().__init__(scope, id_)
        text = {
            "type": "text",
            "x": 0,
            "y": 0,
            "width": 2 * WIDTH,
            "height": 2,
            "properties": {"markdown": introduction},
        }
        widgets = [_widget(graph, index, region) for index, graph in enumerate(graphs)]
        CloudwatchDashboard(
            self,
            "dashboard",
            dashboard_name=name,
            dashboard_body=json.dumps({"widgets": [text, *widgets]}),
        )


def _widget(graph: Graph, index: int, region: str) -> dict[str, Any]:
    row, column = divmod(index, 2)
    return {
        "type": "metric",
        "x": column * WIDTH,
        "y": 2 + row * HEIGHT,
        "width": WIDTH,
        "height": HEIGHT,
        "properties": {
            "title": graph.title,
            "region": region,
            "view": "timeSeries",
            "period": 60,
            "stat": graph.stat,
            "metrics": [list(metric) for metric in graph.metrics],
        },
    }
