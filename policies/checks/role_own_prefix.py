"""Data of one blueprint is out of reach for the roles of another."""

from collections.abc import Iterator
from typing import Final

from policies.check import Check
from policies.reading.companion import own_name
from policies.reading.provider import blueprint
from policies.reading.roles import head, is_pipeline, is_wild, spelled
from policies.reading.stack import Resource
from policies.reading.statement import ROLE_POLICIES, Statement, allowed, granted, overlap

WRITING: Final = ("s3:PutObject", "s3:DeleteObject")


class OwnPrefix(Check):
    """Of a bucket that the same blueprint makes, all of it may be reached; of others, a prefix.

    A prefix may be another blueprint's too, as long as that one doesn't write there: two may read
    one input.
    """

    title = "A role reaches its own blueprint's objects only"
    risk = "One team's worker reads, or spoils, what another team's writes."
    remedy = (
        "Grant by grant_read and grant_write of infra/constructs/object_area.py with the prefix, "
        "and give each blueprint an own one in input.uri and output.uri of blueprint.yaml."
    )
    source = "https://docs.aws.amazon.com/AmazonS3/latest/userguide/amazon-s3-policy-keys.html"
    resources = ("aws_iam_role",)
    chosen_by = "output.uri"

    def faults(self, resource: Resource) -> Iterator[str]:
        if is_pipeline(resource):
            return
        reached = [
            (source, statement, pattern, place)
            for source, statement in allowed(resource)
            for pattern, place in _places(statement, source)
        ]
        if not reached:
            return
        made, written = set(_made(resource)), set(_written_by_others(resource))
        for source, statement, pattern, place in reached:
            bucket, _, key = place.partition("/")
            if is_wild(bucket):
                yield f"{source.path} reaches {pattern}, must name the bucket"
            elif bucket not in made and not head(key) and not _lists_below(statement, place):
                yield f"{source.path} reaches {pattern}, a bucket of others, without a prefix"
            for other, theirs in written:
                if overlap(place, theirs):
                    yield f"{source.path} reaches {pattern}, where {other} writes"


def _places(statement: Statement, source: Resource) -> Iterator[tuple[str, str]]:
    """(as written, bucket or bucket/key) of all in S3 that a statement is about."""
    if not statement.touches("s3:*"):
        return
    for pattern in statement.resources:
        known = spelled(pattern, source)
        if known.startswith("arn:") and known.count(":") >= 5:
            _, _, service, _, _, place = known.split(":", 5)
            if overlap(service, "s3"):
                yield pattern, place
        elif pattern.startswith("${") or is_wild(known):
            yield pattern, known


def _lists_below(statement: Statement, place: str) -> bool:
    """Whether a bucket is listed below a prefix, and nothing else is done with it."""
    prefixes = (
        *statement.condition("StringLike", "s3:prefix"),
        *statement.condition("StringEquals", "s3:prefix"),
    )
    return "/" not in place and bool(prefixes) and all(head(prefix) for prefix in prefixes)


def _made(role: Resource) -> Iterator[str]:
    mine = blueprint(role.stack)
    for bucket in role.app.resources("aws_s3_bucket"):
        if mine and blueprint(bucket.stack) == mine:
            yield str(own_name(bucket) or bucket.address)


def _written_by_others(role: Resource) -> Iterator[tuple[str, str]]:
    """(blueprint, bucket/key) of all objects that roles of other blueprints may write."""
    mine = blueprint(role.stack)
    for type_ in ROLE_POLICIES:
        for policy in role.app.resources(type_):
            other = blueprint(policy.stack)
            if other in ("", mine):
                continue
            for statement in granted(policy):
                if any(statement.touches(action) for action in WRITING):
                    for _, place in _places(statement, policy):
                        yield other, place
