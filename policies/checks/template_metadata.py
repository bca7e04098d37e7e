"""Containers can't take the machine's own credentials."""

from collections.abc import Iterator

from policies.check import Check
from policies.reading.stack import Resource, literal
from policies.reading.value import number


class Metadata(Check):
    title = "A machine's credentials are given to a session token, and to the machine alone"
    risk = "A container, or whoever makes it send a request, takes the credentials of the machine."
    remedy = (
        "Set http_tokens to required and http_put_response_hop_limit to 1 "
        "in infra/constructs/gpu_queue.py."
    )
    source = (
        "https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/"
        "configuring-instance-metadata-options.html"
    )
    resources = ("aws_launch_template",)

    def faults(self, resource: Resource) -> Iterator[str]:
        options = resource.block("metadata_options")
        tokens = literal(options.get("http_tokens"), "metadata_options.http_tokens")
        if tokens != "required":
            yield f"metadata_options.http_tokens is {tokens or 'not set'}, must be required"
        what = "metadata_options.http_put_response_hop_limit"
        hops = options.get("http_put_response_hop_limit")
        if hops is None or number(hops, what) != 1:
            yield f"{what} is {'not set' if hops is None else hops}, must be 1"
