"""A tag of an image means one image, which was looked through, under the platform's key."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource, literal
from policies.reading.value import truth


class RepositoryImmutable(Check):
    title = "An image's tag can't be moved, and each image is scanned and encrypted"
    risk = "Another image takes the place of the one that was tested, or has known holes."
    remedy = (
        "Set image_tag_mutability to IMMUTABLE, scan_on_push to true and encryption_configuration "
        "to KMS with the platform's key, as infra/stacks/foundation.py does."
    )
    source = "https://docs.aws.amazon.com/AmazonECR/latest/userguide/image-tag-mutability.html"
    resources = ("aws_ecr_repository",)

    def faults(self, resource: Resource) -> Iterator[str]:
        tags = literal(resource.conf.get("image_tag_mutability"), "image_tag_mutability")
        if tags != "IMMUTABLE":
            yield f"image_tag_mutability is {tags}, must be IMMUTABLE"
        scan = resource.block("image_scanning_configuration").get("scan_on_push")
        if not truth(scan, "image_scanning_configuration.scan_on_push"):
            yield f"image_scanning_configuration.scan_on_push is {scan}, must be true"
        encryption = resource.block("encryption_configuration")
        kind = literal(encryption.get("encryption_type"), "encryption_type")
        if not str(kind).startswith("KMS"):
            yield f"encryption_configuration.encryption_type is {kind}, must be KMS"
        elif not encryption.get("kms_key"):
            yield "encryption_configuration.kms_key is not set, so that ECR's own key is used"
