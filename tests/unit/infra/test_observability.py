"""What a team is told, and when."""

import json

from tests.unit.infra.synthesized import Synthesized


def test_a_person_sees_the_answers_in_the_order_of_the_questions(maximal: Synthesized) -> None:
    body = json.loads(maximal.one("aws_cloudwatch_dashboard")["dashboard_body"])
    titles = [w["properties"].get("title") for w in body["widgets"]]
    assert titles[1:5] == [
        "Items per second",
        "USD per 1,000 items, were each machine $0.805/h",
        "Shards waiting and at work",
        "Age of the oldest shard, seconds",
    ]
    places = {(w["x"], w["y"]) for w in body["widgets"]}
    assert len(places) == len(body["widgets"])


def test_every_alarm_reaches_the_topic(maximal: Synthesized) -> None:
    for alarm in maximal.all("aws_cloudwatch_metric_alarm"):
        assert alarm["alarm_actions"] == ["${aws_sns_topic.alerts.arn}"]
        assert alarm["treat_missing_data"] == "notBreaching"


def test_alarms_are_on_dead_letters_standstill_and_rejections(maximal: Synthesized) -> None:
    names = {alarm["alarm_name"] for alarm in maximal.all("aws_cloudwatch_metric_alarm")}
    assert names == {"mill-given-up", "mill-no-progress", "mill-rejected"}


def test_the_rejection_alarm_heeds_the_blueprint(maximal: Synthesized) -> None:
    alarm = maximal.named("aws_cloudwatch_metric_alarm", "alarm_name", "mill-rejected")
    assert alarm["threshold"] == 0.01


def test_a_blocked_queue_is_told(maximal: Synthesized) -> None:
    pattern = json.loads(maximal.one("aws_cloudwatch_event_rule")["event_pattern"])
    assert pattern["detail-type"] == ["Batch Job Queue Blocked"]
    assert pattern["resources"] == [
        f"arn:aws:batch:us-east-1:111122223333:job-queue/mill-{queue}" for queue in ("gpu", "small")
    ]


def test_a_budget_is_watched_where_the_blueprint_has_one(
    minimal: Synthesized, maximal: Synthesized
) -> None:
    assert not minimal.all("aws_budgets_budget")
    budget = maximal.one("aws_budgets_budget")
    assert budget["limit_amount"] == "200.00"
    assert budget["cost_filter"][0]["values"] == ["user:gristmill:blueprint$mill"]


def test_logs_are_kept_for_a_while_under_the_teams_key(maximal: Synthesized) -> None:
    for group in maximal.all("aws_cloudwatch_log_group"):
        assert group["retention_in_days"] == 30
        assert group["kms_key_id"]


def test_a_schedule_is_there_where_the_blueprint_has_one(
    minimal: Synthesized, maximal: Synthesized
) -> None:
    assert not minimal.all("aws_scheduler_schedule")
    schedule = maximal.one("aws_scheduler_schedule")
    assert schedule["schedule_expression"] == "cron(0 2 * * ? *)"
    assert schedule["schedule_expression_timezone"] == "Europe/Berlin"
    assert json.loads(schedule["target"]["input"])["Tags"]["gristmill:team"] == "search-quality"


def test_every_stack_names_the_one_account_and_tags_what_it_makes(maximal: Synthesized) -> None:
    for name, tree in maximal.stacks.items():
        (provider,) = tree["provider"]["aws"]
        assert provider["allowed_account_ids"] == ["111122223333"]
        assert provider["default_tags"][0]["tags"]["gristmill:platform"] == "gristmill", name


def test_state_is_locked_where_it_is_shared(minimal: Synthesized, maximal: Synthesized) -> None:
    shared = maximal.stacks["mill-data"]["terraform"]["backend"]["s3"]
    assert shared["use_lockfile"] is True
    assert shared["encrypt"] is True
    assert shared["key"] == "gristmill/mill-data.tfstate"
    local = minimal.stacks["mill-data"]["terraform"]["backend"]["local"]
    assert local["path"] == "../../../terraform.mill-data.tfstate"
