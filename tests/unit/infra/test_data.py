"""Every bucket is private, encrypted, logged and swept."""

import json

from tests.unit.infra.synthesized import Synthesized


def buckets(stacks: Synthesized) -> set[str]:
    return {b["bucket"] for b in stacks.all("aws_s3_bucket")}


def test_what_is_not_there_already_is_made(minimal: Synthesized, maximal: Synthesized) -> None:
    own = {f"mill-{use}-111122223333-us-east-1" for use in ("runs", "models", "logs")}
    assert buckets(minimal) == own | {"grain", "flour"}
    assert buckets(maximal) == own | {"flour"}


def test_every_bucket_is_closed(maximal: Synthesized) -> None:
    count = len(buckets(maximal))
    blocks = maximal.all("aws_s3_bucket_public_access_block")
    assert len(blocks) == count
    for block in blocks:
        assert all(
            block[name]
            for name in (
                "block_public_acls",
                "block_public_policy",
                "ignore_public_acls",
                "restrict_public_buckets",
            )
        )
    owners = maximal.all("aws_s3_bucket_ownership_controls")
    assert [o["rule"]["object_ownership"] for o in owners] == ["BucketOwnerEnforced"] * count


def test_every_data_bucket_is_encrypted_under_the_teams_key(maximal: Synthesized) -> None:
    encryptions = maximal.all("aws_s3_bucket_server_side_encryption_configuration")
    rules = [rule for e in encryptions for rule in e["rule"]]
    under_key = [r for r in rules if r.get("bucket_key_enabled")]
    assert len(rules) == len(buckets(maximal))
    assert len(under_key) == len(rules) - 1  # access logs lie under S3's own key
    for rule in under_key:
        assert rule["apply_server_side_encryption_by_default"]["sse_algorithm"] == "aws:kms"


def test_old_tls_and_another_key_are_denied(maximal: Synthesized) -> None:
    for policy in maximal.all("aws_s3_bucket_policy"):
        denied = [s for s in json.loads(policy["policy"])["Statement"] if s["Effect"] == "Deny"]
        conditions = json.dumps([s["Condition"] for s in denied])
        assert '"aws:SecureTransport": "false"' in conditions
        assert '"s3:TlsVersion": "1.2"' in conditions
        if "AES256" not in conditions and len(denied) == 3:
            assert set(denied[2]["Condition"]) == {"Null", "StringNotEquals"}


def test_versions_are_kept_and_swept(maximal: Synthesized) -> None:
    versioned = maximal.all("aws_s3_bucket_versioning")
    assert len(versioned) == len(buckets(maximal)) - 1
    for lifecycle in maximal.all("aws_s3_bucket_lifecycle_configuration"):
        (rule,) = lifecycle["rule"]
        assert rule["abort_incomplete_multipart_upload"][0]["days_after_initiation"] == 2


def test_runs_expire_and_results_do_not(maximal: Synthesized) -> None:
    rules = {
        lifecycle["bucket"].split(".")[1]: lifecycle["rule"][0]
        for lifecycle in maximal.all("aws_s3_bucket_lifecycle_configuration")
    }
    expiring = {name.partition("_")[0]: "expiration" in rule for name, rule in rules.items()}
    assert expiring == {"access-logs": True, "output": False, "runs": True, "models": False}


def test_data_is_not_destroyed_until_one_setting_says_so(
    minimal: Synthesized, maximal: Synthesized
) -> None:
    for kind in ("aws_s3_bucket", "aws_kms_key", "aws_ecr_repository"):
        assert all(r["lifecycle"]["prevent_destroy"] for r in minimal.all(kind))
        assert not any("lifecycle" in r for r in maximal.all(kind))
    assert not any(b["force_destroy"] for b in minimal.all("aws_s3_bucket"))
    assert all(b["force_destroy"] for b in maximal.all("aws_s3_bucket"))


def test_keys_are_rotated(maximal: Synthesized) -> None:
    assert all(key["enable_key_rotation"] for key in maximal.all("aws_kms_key"))
