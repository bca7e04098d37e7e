"""Section: what every mapping of a configuration file is read into."""

from pydantic import BaseModel, ConfigDict


class Section(BaseModel):
    """Frozen; an unknown key is refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")
