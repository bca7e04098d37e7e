"""Resources that say more about another one, such as the policy of a bucket."""

from policies.reading.stack import CannotTellError, Resource, Stack


def companions(of: Resource, type_: str, by: str) -> list[Resource]:
    """Resources of `type_` whose attribute `by` means `of`.

    Raises CannotTellError where none does, but one names what can't be followed.
    """
    found, unseen = [], []
    for candidate in of.app.resources(type_):
        reference = candidate.conf.get(by)
        if is_meant(of, reference, candidate.stack):
            found.append(candidate)
        elif "${" in str(reference) and of.app.target(reference, candidate.stack) is None:
            unseen.append(f"{candidate.path} has {by} {reference}, which is not in these stacks")
    if unseen and not found:
        raise CannotTellError(unseen[0])
    return found


def is_meant(of: Resource, reference: object, stack: Stack) -> bool:
    """Whether `reference` in `stack` is `of`: by attribute or by name."""
    target = of.app.target(reference, stack)
    if target is not None:
        return is_same(of, target)
    return reference is not None and reference == own_name(of)


def is_same(one: Resource, other: Resource) -> bool:
    return one.address == other.address and one.stack is other.stack


def own_name(of: Resource) -> object:
    """What it is called in AWS, where the stack says so."""
    return of.conf.get("bucket") or of.conf.get("name")
