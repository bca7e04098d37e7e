from tests.unit.policies.case import Cases, Trees, one
from tests.unit.policies.job import KIND, change, definition


def plant(trees: Trees) -> None:
    change(trees, readonlyRootFilesystem=False)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[definition(readonlyRootFilesystem=True)],
    fails=[definition(), definition(readonlyRootFilesystem=False)],
    cannot_tell=[one(KIND), definition(readonlyRootFilesystem="${var.fixed}")],
    plant=plant,
)
