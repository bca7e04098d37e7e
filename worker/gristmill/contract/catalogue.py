"""GPUs, and the machines that carry them: data about the world, with date and source."""

import difflib
from dataclasses import dataclass
from typing import Final

from gristmill.contract.errors import ConfigError

PRICED_ON: Final = "2026-07-20"
PRICE_SOURCE: Final = "Amazon EC2 on-demand list price, Linux, us-east-1"
OFFERS_SOURCE: Final = "EC2 DescribeInstanceTypeOfferings, as the moto 5.2.5 package records it"


@dataclass(frozen=True, slots=True)
class Gpu:
    name: str
    vendor: str
    memory_mib: int
    elsewhere: str = ""
    """Where to run it, for a GPU that no cloud here rents out."""


@dataclass(frozen=True, slots=True)
class InstanceType:
    """A machine that a cloud rents out."""

    name: str
    gpu: str
    gpus: int
    vcpus: int
    memory_mib: int
    usd_per_hour: float
    regions: tuple[str, ...]

    @property
    def vcpus_per_gpu(self) -> int:
        return self.vcpus // self.gpus

    @property
    def memory_mib_per_gpu(self) -> int:
        return self.memory_mib // self.gpus


_KUBERNETES: Final = (
    "run it on your own Kubernetes nodes, as docs/explanation/network.md says under "
    '"Machines that AWS does not have"'
)

GPUS: Final[dict[str, Gpu]] = {
    gpu.name: gpu
    for gpu in (
        Gpu("L4", "NVIDIA", 22_888),
        Gpu("A10G", "NVIDIA", 22_888),
        Gpu("L40S", "NVIDIA", 45_776),
        Gpu("A100-40GB", "NVIDIA", 40_960),
        Gpu("H100", "NVIDIA", 81_920),
        Gpu("MI210", "AMD", 65_536, elsewhere=_KUBERNETES),
    )
}

_L4 = (
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-south-2",
    "ap-southeast-2",
    "ap-southeast-5",
    "ca-central-1",
    "eu-central-1",
    "eu-central-2",
    "eu-north-1",
    "eu-south-2",
    "eu-west-2",
    "eu-west-3",
    "me-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)
_A10G = (
    "ap-east-1",
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-south-2",
    "eu-west-1",
    "eu-west-2",
    "eu-west-3",
    "il-central-1",
    "me-central-1",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)
_L40S = (
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-northeast-3",
    "ap-south-1",
    "ap-south-2",
    "eu-central-1",
    "eu-north-1",
    "eu-south-2",
    "me-central-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)
_A100 = (
    "ap-northeast-1",
    "ap-northeast-2",
    "ap-south-1",
    "ap-southeast-2",
    "ca-central-1",
    "eu-central-1",
    "eu-north-1",
    "eu-west-1",
    "eu-west-2",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)
_H100 = (
    "ap-northeast-1",
    "ap-south-1",
    "ap-southeast-2",
    "ap-southeast-3",
    "eu-north-1",
    "eu-west-2",
    "sa-east-1",
    "us-east-1",
    "us-east-2",
    "us-west-2",
)

# Left out: gr6 (the same L4 at twice the price), and the fractional g6f and gr6f, which report no
# GPU at all to a scheduler that counts whole ones.
AWS: Final[tuple[InstanceType, ...]] = (
    InstanceType("g6.xlarge", "L4", 1, 4, 16_384, 0.805, _L4),
    InstanceType("g6.12xlarge", "L4", 4, 48, 196_608, 4.602, _L4),
    InstanceType("g5.xlarge", "A10G", 1, 4, 16_384, 1.006, _A10G),
    InstanceType("g6e.xlarge", "L40S", 1, 4, 32_768, 1.861, _L40S),
    InstanceType("g6e.12xlarge", "L40S", 4, 48, 393_216, 10.493, _L40S),
    InstanceType("p4d.24xlarge", "A100-40GB", 8, 96, 1_179_648, 21.958, _A100),
    InstanceType("p5.4xlarge", "H100", 1, 16, 262_144, 6.880, _H100),
)


def aws_instance_types(gpus: tuple[str, ...], region: str) -> tuple[InstanceType, ...]:
    """The machines with these GPUs in a region, the preferred GPU first.

    Raises ConfigError for a GPU that is unknown, not on AWS, or not in the region.
    """
    return tuple(
        machine
        for index, name in enumerate(gpus)
        for machine in _types_of(name, region, f"capacity.gpus.{index}")
    )


def _types_of(name: str, region: str, path: str) -> tuple[InstanceType, ...]:
    gpu = GPUS.get(name)
    rentable = tuple(gpu_name for gpu_name, known in GPUS.items() if not known.elsewhere)
    if gpu is None:
        near = difflib.get_close_matches(name.upper(), GPUS, n=1, cutoff=0.4)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ConfigError(f"{path}: got {name!r}, must be one of {', '.join(rentable)}{hint}")
    if gpu.elsewhere:
        raise ConfigError(
            f"{path}: got {name!r}, which no AWS machine has; AWS has {', '.join(rentable)}. "
            f"To use {name}, {gpu.elsewhere}"
        )
    machines = tuple(machine for machine in AWS if machine.gpu == name)
    offered = tuple(machine for machine in machines if region in machine.regions)
    if not offered:
        regions = ", ".join(sorted({there for machine in machines for there in machine.regions}))
        raise ConfigError(
            f"{path}: got {name!r}, which {region} does not offer; choose another GPU, or set "
            f"region in platform.yaml to one of {regions}"
        )
    return offered
