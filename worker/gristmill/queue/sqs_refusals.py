"""SQS's error codes -> errors that say what to do. Codes are its contract; its words are not."""

from typing import Final

from gristmill.contract.errors import PermissionRefusedError, StorageError

TRIES: Final = 5
"""Times that a failing call is made, with jitter between: 15 s at most where each fails at once."""
_MISSING: Final = {"AWS.SimpleQueueService.NonExistentQueue", "QueueDoesNotExist"}
HANDLE_LOST: Final = {
    "AWS.SimpleQueueService.MessageNotInflight",
    "MessageNotInflight",
    "ReceiptHandleIsInvalid",
    "InvalidParameterValue",  # of an old handle, and past 12 hours
}
"""Answers to a receipt handle that stands for no message in flight any more."""
_REFUSED: Final = {"AccessDenied", "AccessDeniedException", "AuthFailure", "KmsAccessDenied"}
_STRANGER: Final = {
    "ExpiredToken",
    "ExpiredTokenException",
    "IncompleteSignature",
    "InvalidClientTokenId",
    "InvalidSecurity",
    "InvalidSignatureException",
    "MissingAuthenticationToken",
    "MissingAuthenticationTokenException",
    "RequestExpired",
    "SignatureDoesNotMatch",
    "UnrecognizedClientException",
}
_THROTTLED: Final = {
    "KmsThrottled",
    "OverLimit",
    "RequestLimitExceeded",
    "RequestThrottled",
    "RequestThrottledException",
    "Throttling",
    "ThrottlingException",
    "TooManyRequestsException",
}


def refusal(url: str, what: str, code: str) -> StorageError:
    """`what` was asked of the queue, in words."""
    if code in _MISSING:
        return StorageError(
            f"{url}: there is no such queue; deploy the blueprint again, or correct the URL, the "
            "region or AWS_ENDPOINT_URL"
        )
    if code in _REFUSED:
        return PermissionRefusedError(
            f"{url}: permission to {what} the work queue refused ({code}); give this identity "
            "that right"
        )
    if code in _STRANGER:
        return PermissionRefusedError(
            f"{url}: AWS does not accept the credentials of this process ({code}); renew them, or "
            "check which ones the environment holds"
        )
    if code in _THROTTLED:
        return StorageError(
            f"{url}: SQS throttled {TRIES} tries to {what} the work queue ({code}); run it again "
            "with fewer workers, or later"
        )
    return StorageError(
        f"{url}: can't {what} the work queue (SQS answered {code or 'without a code'} "
        "to the last try); run it again"
    )
