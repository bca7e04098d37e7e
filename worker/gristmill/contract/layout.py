"""Every object key of a run directory and of the results is spelled here, once."""

import re
from dataclasses import dataclass
from typing import Final

RUN: Final = "run.json"
PLAN: Final = "plan/plan.json"
MANIFEST: Final = "manifest.json"
SHARDS: Final = "shards/"
ATTEMPTS: Final = "attempts/"
FAILURES: Final = "failures/"
RETRIES: Final = "retries/"
CONTROL: Final = "control.json"
QUEUE: Final = "queue.sqlite"
CLAIMS: Final = "claims/"
FILLS: Final = "fills/"

_SHARD_MANIFEST: Final = re.compile(r"shards/(\d+)/shard(?:\.r\d{3})?\.json")
_PART_MANIFEST: Final = re.compile(r"shards/(\d+)/parts/(\d+)(?:\.r\d{3})?\.json")
_CLAIM: Final = re.compile(
    r"claims/(\d+)/(\d+)/(?:(\d+)\.)?(claim|released|failed|progressed|done|reopened|ticket)"
)
_FILL: Final = re.compile(r"fills/(\d+)/fill\.json")
_FILL_PAGE: Final = re.compile(r"fills/(\d+)/sent-(\d+)\.json")
_PARTIAL: Final = re.compile(r"shards/\d+/partials/(\d+)-[^/]+\.jsonl")
_RESULT: Final = re.compile(r"(results|errors)-\d{6}\.[a-z.]+")


def plan_page(page: int) -> str:
    return f"plan/shards-{page:05d}.jsonl"


def shard_prefix(shard: int) -> str:
    return f"{SHARDS}{shard:06d}/"


def shard_manifest(shard: int, generation: int = 0) -> str:
    """Later generations, made by a retry, sort after earlier ones; the last one holds."""
    return f"{shard_prefix(shard)}shard{_again(generation)}.json"


def parts_prefix(shard: int) -> str:
    return f"{shard_prefix(shard)}parts/"


def part_manifest(shard: int, part: int, generation: int = 0) -> str:
    return f"{parts_prefix(shard)}{part:06d}{_again(generation)}.json"


def _again(generation: int) -> str:
    return f".r{generation:03d}" if generation else ""


def retry_manifest(generation: int) -> str:
    """The RunManifest that a retry ends with; the last one holds."""
    return f"{RETRIES}{generation:03d}.json"


def part_data(shard: int, part: int, attempt: str, sha256: str, name: str, extension: str) -> str:
    """`name` is what the file holds, as in a DataFile. Its digest is in the key, as an attempt
    that lost its lease may do a part twice: what a manifest names is never written over."""
    return f"{shard_prefix(shard)}data/{part:06d}-{attempt}-{sha256[:12]}-{name}.{extension}"


def partial(shard: int, part: int, attempt: str) -> str:
    """What is inferred of a part that was cut short."""
    return f"{shard_prefix(shard)}partials/{part:06d}-{attempt}.jsonl"


def failure(shard: int, part: int) -> str:
    """Why a ticket was given up."""
    return f"{FAILURES}{shard:06d}-{part:06d}.json"


def dead_letter(shard: int) -> str:
    """Rejected records of one shard. In the run directory, not beside the results: its lines name
    attempts, and what lies beside the results has the same bytes whatever was killed."""
    return f"rejected/{shard:06d}.jsonl"


def fill(number: int) -> str:
    return f"{FILLS}{number:06d}/fill.json"


def fill_page(number: int, page: int) -> str:
    return f"{FILLS}{number:06d}/sent-{page:06d}.json"


def attempt(name: str) -> str:
    return f"{ATTEMPTS}{name}.json"


def result(shard: int, name: str, extension: str) -> str:
    """Relative to the output. Names sort as the input does."""
    return f"{name}-{shard:06d}.{extension}"


@dataclass(frozen=True, slots=True)
class ClaimKey:
    """What an object under `claims/` is about, which its key tells and its body need not."""

    shard: int
    part: int
    generation: int
    """Claims of a ticket are numbered from 1; 0 for the ticket itself."""
    kind: str
    """claim, released, failed, progressed, done, reopened or ticket."""


def claims_prefix(shard: int, part: int) -> str:
    """Of the ticket that starts with this part."""
    return f"{CLAIMS}{shard:06d}/{part:06d}/"


def claim(shard: int, part: int, generation: int, kind: str = "claim") -> str:
    """The claim itself, or with another `kind` a mark that says what became of it."""
    return f"{claims_prefix(shard, part)}{generation:06d}.{kind}"


def claim_ticket(shard: int, part: int) -> str:
    """A ticket that is not in the plan, for any worker to claim."""
    return f"{claims_prefix(shard, part)}ticket"


def read_claim(key: str) -> ClaimKey | None:
    """None for another key."""
    match = _CLAIM.fullmatch(key)
    return ClaimKey(int(match[1]), int(match[2]), int(match[3] or 0), match[4]) if match else None


def shard_of_manifest(key: str) -> int | None:
    """The shard of a ShardManifest's key; None for another key."""
    match = _SHARD_MANIFEST.fullmatch(key)
    return int(match[1]) if match else None


def part_of_manifest(key: str) -> tuple[int, int] | None:
    """(shard, part) of a PartManifest's key; None for another key."""
    match = _PART_MANIFEST.fullmatch(key)
    return (int(match[1]), int(match[2])) if match else None


def number_of_fill(key: str) -> int | None:
    """The number of a Fill's key; None for another key."""
    match = _FILL.fullmatch(key)
    return int(match[1]) if match else None


def page_of_fill(key: str) -> tuple[int, int] | None:
    """(fill, page) of a sent page's key; None for another key."""
    match = _FILL_PAGE.fullmatch(key)
    return (int(match[1]), int(match[2])) if match else None


def part_of_partial(key: str) -> int | None:
    """The part that a partial's key belongs to; None for another key."""
    match = _PARTIAL.fullmatch(key)
    return int(match[1]) if match else None


def is_result(key: str) -> bool:
    """Whether a key, relative to an output, is a result file of some run."""
    return _RESULT.fullmatch(key) is not None
