from policies.lines import Span, item_lines, key_line, resource_spans

STACK = """\
{
  "resource": {
    "aws_sqs_queue": {
      "a": {
        "name": "x"
      },
      "b": {}
    }
  }
}
"""


def test_each_resource_has_its_lines() -> None:
    assert resource_spans(STACK, "x") == {
        ("aws_sqs_queue", "a"): Span(4, 6),
        ("aws_sqs_queue", "b"): Span(7, 7),
    }


def test_a_stack_without_resources_has_none() -> None:
    assert resource_spans("{}", "x") == {}


def test_a_key_is_found_as_far_as_it_is_there() -> None:
    text = "version: 1\ncapacity:\n  gpus: [L4]\n  spot: {}\n"
    assert key_line(text, "x", "capacity.spot") == 4
    assert key_line(text, "x", "capacity.on_demand") == 2
    assert key_line(text, "x", "budget.max_usd") == 1


def test_items_of_a_list_have_their_lines() -> None:
    assert item_lines("a: 1\nlist:\n  - x: 1\n    y: 2\n  - x: 3\n", "x", "list") == (3, 5)
    assert item_lines("a: 1\n", "x", "list") == ()
