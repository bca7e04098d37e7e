"""The catalogue is data: it holds together, and says where it comes from."""

import pytest

from gristmill.contract.catalogue import AWS, GPUS, PRICE_SOURCE, PRICED_ON, aws_instance_types
from gristmill.contract.errors import ConfigError


def test_every_machine_has_a_gpu_a_price_and_a_region() -> None:
    assert all(m.gpu in GPUS and m.usd_per_hour > 0 and m.regions and m.gpus for m in AWS)
    assert PRICED_ON
    assert PRICE_SOURCE


def test_a_gpu_is_rentable_or_says_where_else_to_go() -> None:
    rentable = {machine.gpu for machine in AWS}
    assert {name for name, gpu in GPUS.items() if not gpu.elsewhere} == rentable


def test_the_preferred_gpu_comes_first() -> None:
    machines = aws_instance_types(("L40S", "L4"), "us-east-1")
    assert [m.gpu for m in machines] == ["L40S", "L40S", "L4", "L4"]


def test_a_lower_case_name_is_understood_as_a_slip() -> None:
    with pytest.raises(ConfigError, match="did you mean L40S"):
        aws_instance_types(("l40s",), "us-east-1")
