"""Rules about blueprints, as a platform team writes them in rules.yaml."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self, get_args

from pydantic import BaseModel, ConfigDict, Field, model_validator

from gristmill.contract.blueprint import Blueprint
from policies.finding import CannotJudgeError, Finding, Place
from policies.lines import key_line
from policies.load import load

Scalar = str | int | float | bool
ABSENT: Final = object()


class Rule(BaseModel):
    """One demand on one key of blueprint.yaml."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str = Field(pattern=r"^BLUEPRINT_[A-Z0-9_]+$", description="`BLUEPRINT_…`.")
    path: str = Field(description="Key of blueprint.yaml, dotted.")
    when: Mapping[str, tuple[Scalar, ...]] = Field(
        {}, description="Holds only where each of these keys has one of these values."
    )
    presence: Literal["required", "forbidden"] | None = Field(
        None, description="Whether the key must or must not be there."
    )
    one_of: tuple[Scalar, ...] = Field((), description="Values allowed.")
    at_most: float | None = Field(
        None, allow_inf_nan=False, description="The highest number allowed."
    )
    at_most_of_team: Mapping[str, float] = Field(
        {}, description="Instead of `at_most`, for a team."
    )
    why: str = Field(min_length=10, description="What happens otherwise.")
    remedy: str = Field(min_length=10, description="What to write instead.")

    @model_validator(mode="after")
    def _demands(self) -> Self:
        for key in (self.path, *self.when):
            if not _is_key(key):
                raise ValueError(f"{key} is no key of blueprint.yaml: the rule would never hold")
        if not all(self.when.values()):
            raise ValueError("when: names no value: the rule would never hold")
        if not (self.presence or self.one_of or self.at_most is not None):
            raise ValueError("demands nothing: give presence, one_of or at_most")
        if self.at_most_of_team and self.at_most is None:
            raise ValueError("at_most_of_team needs at_most, for the other teams")
        return self

    def faults(self, blueprint: Mapping[str, Any]) -> Iterator[str]:
        """What is wrong with a blueprint's tree of plain values, defaults included."""
        if any(_value(blueprint, path) not in allowed for path, allowed in self.when.items()):
            return
        value = _value(blueprint, self.path)
        if value is ABSENT:
            if self.presence == "required":
                yield f"{self.path}: is missing"
            return
        if self.presence == "forbidden":
            yield f"{self.path}: must not be there{self._condition()}"
        if self.one_of and value not in self.one_of:
            yield f"{self.path}: got {value!r}, must be one of {_listed(self.one_of)}"
        yield from self._excess(value, str(blueprint.get("team") or blueprint.get("name")))

    def _excess(self, value: object, team: str) -> Iterator[str]:
        most = self.at_most_of_team.get(team, self.at_most)
        if most is None:
            return
        if not isinstance(value, int | float):
            yield f"{self.path}: got {value!r}, must be a number of at most {most:g}"
        elif value > most:
            yield f"{self.path}: got {value:g}, must be at most {most:g} for team {team}"

    def _condition(self) -> str:
        told = " and ".join(f"{path} is {_listed(values)}" for path, values in self.when.items())
        return f" where {told}" if told else ""


class RulesFile(BaseModel):
    """All rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    version: Literal[1]
    rules: Annotated[tuple[Rule, ...], Field(min_length=1)]


def load_rules(path: Path) -> tuple[Rule, ...]:
    """Raises CannotJudgeError with one line per fault."""
    rules = load(path, RulesFile)[0].rules
    twice = {rule.id for rule in rules if sum(r.id == rule.id for r in rules) > 1}
    if twice:
        raise CannotJudgeError(f"{path}: id {', '.join(sorted(twice))} is given twice")
    return rules


def judge_blueprint(
    rules: tuple[Rule, ...], file: str, text: str, tree: Mapping[str, Any]
) -> list[Finding]:
    """`text` as written, for the lines; `tree` with defaults."""
    return [
        Finding(
            check=rule.id,
            title=f"{rule.path} is as the platform demands",
            where=file,
            places=(Place(file, key_line(text, file, rule.path)),),
            reasons=reasons,
            risk=rule.why,
            remedy=rule.remedy,
        )
        for rule in rules
        if (reasons := tuple(rule.faults(tree)))
    ]


def _is_key(dotted: str) -> bool:
    """Whether a blueprint may have it; of sections that come in kinds, any kind's."""
    models: list[type[BaseModel]] = [Blueprint]
    for name in dotted.split("."):
        fields = [m.model_fields[name] for m in models if name in m.model_fields]
        if not fields:
            return False
        models = [model for field in fields for model in _models(field.annotation)]
    return True


def _models(annotation: Any) -> list[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return [annotation]
    return [model for inner in get_args(annotation) for model in _models(inner)]


def _value(tree: Mapping[str, Any], dotted: str) -> object:
    """ABSENT where the key or a section above isn't there."""
    found: object = tree
    for key in dotted.split("."):
        found = found.get(key) if isinstance(found, Mapping) else None
        if found is None:
            return ABSENT
    return found


def _listed(values: tuple[Scalar, ...]) -> str:
    return ", ".join(str(value) for value in values)
