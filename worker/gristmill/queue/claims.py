"""What the objects under `claims/` say of a ticket. Their keys tell all of it but the beat, and a
beat shows in the etag, so that a listing is all that is ever read.

    <generation>.claim      create-only: who creates it has the lease; written over at each beat
    <generation>.released   given back unfinished; counts as no attempt
    <generation>.failed     given back unfinished; counts as an attempt
    <generation>.progressed something of it was published: attempts up to this one don't count
    <generation>.done       what the ticket asks for is published
    <generation>.reopened   this generation and those before it are the past: nothing was done
    ticket                  a ticket that is not in the plan
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Protocol

from gristmill.contract.layout import ClaimKey, read_claim
from gristmill.contract.ticket import Ticket


class Listed(Protocol):
    """One object of a listing."""

    @property
    def key(self) -> str: ...

    @property
    def etag(self) -> str: ...


class ClaimStore(Protocol):
    """What claims need of an object store: create-only puts, and listings that are up to date."""

    def get(self, key: str) -> bytes: ...

    def put(self, key: str, body: bytes) -> None: ...

    def put_new(self, key: str, body: bytes) -> bool: ...

    def list(self, prefix: str = "") -> Iterator[Listed]: ...


@dataclass(slots=True)
class Claims:
    """All that was listed of one ticket."""

    top: int = 0
    """The latest generation; 0: nobody claimed it yet."""
    beat: str = ""
    """Etag of the latest claim."""
    opened: int = 0
    """Generations up to this one are the past."""
    released: set[int] = field(default_factory=set)
    failed: set[int] = field(default_factory=set)
    progressed: int = 0
    """The latest generation that published something."""
    finished: int = 0
    """The latest generation that was marked done."""

    def add(self, key: ClaimKey, etag: str) -> None:
        match key.kind:
            case "claim" if key.generation > self.top:
                self.top, self.beat = key.generation, etag
            case "released":
                self.released.add(key.generation)
            case "failed":
                self.failed.add(key.generation)
            case "progressed":
                self.progressed = max(self.progressed, key.generation)
            case "done":
                self.finished = max(self.finished, key.generation)
            case "reopened":
                self.opened = max(self.opened, key.generation)


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a ticket stands, as far as this worker has seen."""

    ticket: Ticket
    top: int = 0
    opened: int = 0
    receives: int = 0
    """Claims since it was opened that were not given back."""
    claimed: bool = False
    """The latest claim was neither given back nor overtaken by a reopening."""
    done: bool = False
    beat: str | None = None
    """Etag of the latest claim. None: it is our own beat, which was not listed since."""
    since: float = 0.0
    """When the claim and its beat were first seen as they are, on our own monotonic clock."""

    def seen(self, claims: Claims, at: float) -> "Standing":
        """As a listing shows it. A beat that changed starts its time anew."""
        same = claims.top == self.top and self.beat in (None, claims.beat)
        current = range(claims.opened + 1, claims.top + 1)
        counted = range(max(claims.opened, claims.progressed) + 1, claims.top + 1)
        return replace(
            self,
            top=claims.top,
            opened=claims.opened,
            receives=len(counted) - len(claims.released.intersection(counted)),
            claimed=bool(current) and claims.top not in claims.released | claims.failed,
            done=claims.finished > claims.opened,
            beat=claims.beat,
            since=self.since if same else at,
        )

    def held(self, at: float, lease_seconds: float) -> bool:
        """Whether somebody has the lease: claimed, and seen to beat not long ago."""
        return self.claimed and at - self.since < lease_seconds


def read_claims(listed: Iterable[Listed]) -> tuple[dict[tuple[int, int], Claims], list[ClaimKey]]:
    """A listing -> what was claimed, by the tickets' order, and the tickets outside the plan."""
    claims: dict[tuple[int, int], Claims] = {}
    tickets: list[ClaimKey] = []
    for info in listed:
        key = read_claim(info.key)
        if key is None:
            continue
        if key.kind == "ticket":
            tickets.append(key)
        else:
            claims.setdefault((key.shard, key.part), Claims()).add(key, info.etag)
    return claims, tickets
