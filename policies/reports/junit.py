"""The judgement as JUnit XML: one suite a stack, one case for each check of each thing in it."""

from collections.abc import Iterable, Sequence
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from policies.finding import Finding
from policies.scan import Record


def junit(
    records: Iterable[Record], standing: Sequence[Finding], excused: Sequence[Finding]
) -> str:
    """Excused findings are skipped cases."""
    answers: dict[tuple[str, str], Finding | None] = {
        (record.check, record.path): None for record in records
    }
    answers |= {finding.subject: finding for finding in (*standing, *excused)}
    failing = {finding.subject for finding in standing}
    suites: dict[str, list[tuple[str, str]]] = {}
    for check, where in sorted(answers, key=lambda subject: (subject[1], subject[0])):
        suites.setdefault(where.split("/")[0], []).append((check, where))
    root = Element("testsuites")
    for name, cases in suites.items():
        suite = SubElement(root, "testsuite", name=name, tests=str(len(cases)))
        suite.set("failures", str(sum(case in failing for case in cases)))
        suite.set(
            "skipped", str(sum(bool(answers[case]) and case not in failing for case in cases))
        )
        for case in cases:
            _case(suite, case, answers[case], failed=case in failing)
    indent(root)
    return f"{tostring(root, encoding='unicode', xml_declaration=True)}\n"


def _case(
    suite: Element, subject: tuple[str, str], finding: Finding | None, *, failed: bool
) -> None:
    check, where = subject
    case = SubElement(suite, "testcase", classname=check, name=where)
    if finding is None:
        return
    if failed:
        fault = SubElement(case, "failure", message="; ".join(finding.reasons) or finding.title)
        fault.text = f"{finding.places[0]}\n{finding.risk}\n{finding.remedy}"
    else:
        SubElement(case, "skipped", message="excused in policies/waivers.yaml")
