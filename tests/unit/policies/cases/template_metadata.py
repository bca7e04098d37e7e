from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_launch_template"


def template(tokens: object, hops: object) -> Trees:
    options = {"http_tokens": tokens, "http_put_response_hop_limit": hops}
    return one(KIND, metadata_options=options)


def plant(trees: Trees) -> None:
    for made in of_type(trees, KIND):
        made["metadata_options"]["http_put_response_hop_limit"] = 2


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[template("required", 1), template("required", "1")],
    fails=[one(KIND), template("optional", 1), template("required", 2), template("required", None)],
    cannot_tell=[
        template("${var.tokens}", 1),
        template("required", "${var.hops}"),
        template("required", "one"),
    ],
    plant=plant,
)
