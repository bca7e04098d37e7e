from gristmill.contract.errors import (
    BadInputError,
    EngineDeadError,
    PermissionRefusedError,
    StorageError,
)
from gristmill.contract.process import ExitCode
from gristmill.runtime.failure import explain


def raised(error: Exception) -> Exception:
    try:
        raise error
    except Exception as caught:  # noqa: BLE001 - whatever it is, with its traceback
        return caught


def test_an_expected_error_is_its_own_sentence_and_code() -> None:
    assert explain(StorageError("disk full")) == (ExitCode.STORAGE, "disk full", [])
    assert explain(PermissionRefusedError("no"))[0] is ExitCode.PERMISSION


def test_the_expected_one_of_a_group_is_told_however_deep() -> None:
    group = BaseExceptionGroup(
        "g", [ValueError("x"), ExceptionGroup("h", [EngineDeadError("gone"), BadInputError("b")])]
    )
    assert explain(group) == (ExitCode.ENGINE_DEAD, "gone", [])


def test_a_fault_of_ours_names_places_in_the_code_and_never_values() -> None:
    code, message, frames = explain(raised(KeyError("a customer's name")))
    assert code is ExitCode.BUG
    assert message == "KeyError: a fault in gristmill; please report it"
    assert frames
    assert "customer" not in message + "".join(frames)
