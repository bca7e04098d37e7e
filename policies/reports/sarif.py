"""Findings as SARIF 2.1.0, for code scanning.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from policies.finding import Finding, Place


def sarif(standing: Sequence[Finding], excused: Sequence[Finding], root: Path) -> str:
    """Excused findings are there too, suppressed. Files under `root` are named relative to it."""
    rules = {finding.check: _rule(finding) for finding in (*standing, *excused)}
    results = [
        *(_result(finding, root) for finding in standing),
        *({**_result(f, root), "suppressions": [_SUPPRESSED]} for f in excused),
    ]
    run = {
        "tool": {
            "driver": {
                "name": "gristmill-policies",
                "informationUri": "https://docs.checkov.io",
                "rules": [rules[check] for check in sorted(rules)],
            }
        },
        "originalUriBaseIds": {"ROOT": {"description": {"text": "The project's folder."}}},
        "results": results,
    }
    document = {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [run],
    }
    return json.dumps(document, indent=2) + "\n"


_SUPPRESSED = {"kind": "external", "status": "accepted", "justification": "policies/waivers.yaml"}


def _rule(finding: Finding) -> dict[str, Any]:
    rule: dict[str, Any] = {
        "id": finding.check,
        "shortDescription": {"text": finding.title},
        "help": {"text": f"{finding.risk} {finding.remedy}".strip()},
        "defaultConfiguration": {"level": "error"},
    }
    return {**rule, "helpUri": finding.source} if finding.source else rule


def _result(finding: Finding, root: Path) -> dict[str, Any]:
    first, *others = finding.places
    key = "/".join(finding.subject)
    return {
        "ruleId": finding.check,
        "level": "error",
        "message": {"text": _message(finding)},
        "locations": [
            {
                **_location(first, root),
                "logicalLocations": [{"fullyQualifiedName": finding.where, "kind": "resource"}],
            }
        ],
        "relatedLocations": [
            {"id": number, **_location(place, root)} for number, place in enumerate(others, start=1)
        ],
        "partialFingerprints": {"checkAndPath/v1": hashlib.sha256(key.encode()).hexdigest()},
    }


def _message(finding: Finding) -> str:
    found = "; ".join(finding.reasons)
    return f"{finding.where}: {finding.title}" + (f": {found}" if found else "")


def _location(place: Place, root: Path) -> dict[str, Any]:
    file = Path(place.file).absolute()
    inside = root.absolute() in file.parents
    uri = quote(file.relative_to(root.absolute()).as_posix()) if inside else file.as_uri()
    artifact = {"uri": uri, "uriBaseId": "ROOT"} if inside else {"uri": uri}
    return {
        "physicalLocation": {
            "artifactLocation": artifact,
            "region": {"startLine": place.line},
        }
    }
