import pytest

from gristmill.contract import process
from gristmill.contract.errors import ConfigError
from gristmill.queue.index import worker_count, worker_index

NAMES = ["GRISTMILL_INDEX", "JOB_COMPLETION_INDEX", "AWS_BATCH_JOB_ARRAY_INDEX"]


@pytest.mark.parametrize("name", NAMES)
def test_each_way_of_saying_the_index_is_heard(name: str) -> None:
    assert worker_index({name: "3"}, 4) == 3
    assert worker_index({name: "0"}, 1) == 0


def test_our_own_variable_counts_before_those_of_a_job() -> None:
    assert worker_index(dict(zip(NAMES, "012", strict=True)), 4) == 0
    assert worker_index({process.ENV_INDEX: "", NAMES[2]: "2"}, 4) == 2


def test_a_missing_index_is_asked_for_with_every_way_to_set_it() -> None:
    with pytest.raises(ConfigError, match="0 to 3: set GRISTMILL_INDEX") as refused:
        worker_index({}, 4)
    assert all(name in str(refused.value) for name in NAMES)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("text", ["4", "-1", "two", "1.0", "٣"])
def test_an_index_of_no_worker_is_refused_by_its_variable(name: str, text: str) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: got '{text}', must be 0 to 3"):
        worker_index({name: text}, 4)


def test_the_number_of_workers_is_1_or_more() -> None:
    assert worker_count("1") == 1
    for text in ("", "0", "-2", "many"):
        with pytest.raises(ConfigError, match=f"^GRISTMILL_QUEUE: got 'indexed:{text}'"):
            worker_count(text)
