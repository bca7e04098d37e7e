import pytest

from policies.reading.stack import App, CannotTellError, blocks, literal, parsed

TREES = {
    "a-data": {
        "resource": {"aws_kms_key": {"k": {"//": {"metadata": {"path": "a-data/key/key"}}}}},
        "output": {"key-arn": {"value": "${aws_kms_key.k.arn}"}},
    },
    "a-compute": {"resource": {"aws_sqs_queue": {"q": {"name": "q"}}}},
}
REMOTE = "${data.terraform_remote_state.a-data.outputs.key-arn}"


def test_a_reference_is_followed_into_the_stack_that_has_it() -> None:
    app = App.of(TREES)
    for reference, stack in (("${aws_kms_key.k.arn}", "a-data"), (REMOTE, "a-compute")):
        found = app.target(reference, app.stacks[stack])
        assert found is not None
        assert found.path == "a-data/key/key"


@pytest.mark.parametrize(
    "reference", ["${aws_kms_key.gone.arn}", "${aws_kms_key.k.arn}/x", "arn:aws:kms:…", None, 3]
)
def test_what_is_no_reference_means_nothing(reference: object) -> None:
    app = App.of(TREES)
    assert app.target(reference, app.stacks["a-compute"]) is None


def test_a_resource_without_a_construct_path_is_called_by_its_address() -> None:
    (queue,) = App.of(TREES).resources("aws_sqs_queue")
    assert queue.path == "a-compute/aws_sqs_queue.q"


def test_a_block_may_be_an_object_or_a_list() -> None:
    assert blocks({"b": {"x": 1}}, "b") == [{"x": 1}]
    assert blocks({"b": [{"x": 1}]}, "b") == [{"x": 1}]
    assert blocks({}, "b") == []
    with pytest.raises(CannotTellError, match="b is no block"):
        blocks({"b": "${var.b}"}, "b")


def test_what_is_known_only_later_cannot_be_told() -> None:
    assert literal(3, "it") == 3
    with pytest.raises(CannotTellError, match="known only after"):
        literal("${var.x}", "it")


@pytest.mark.parametrize("text", [None, 3, "{", "${data.x.json}"])
def test_json_that_is_none_cannot_be_told(text: object) -> None:
    with pytest.raises(CannotTellError):
        parsed(text, "it")
