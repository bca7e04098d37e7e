"""The gate's checks and files -> the page for those who are judged, and those who judge."""

from policies.check import SHARED, load_checks
from policies.rules import RulesFile
from policies.waivers import LONGEST, WaiversFile
from scripts.schema_page import Node, schema_sections
from scripts.table import table


def policy_page() -> str:
    checks = load_checks(SHARED)
    rows = [
        (f"[`{c.id}`](../../policies/checks/{c.file.name})", c.check.title, c.check.risk)
        for c in checks
    ]
    return (
        "# Policies\n\n`make policy` judges every stack of every blueprint, and the blueprints\n"
        "themselves. Why it is built so: "
        "[decision 0013](../decisions/0013-policy-gate.md). How a check is written:\n"
        "[policies/README.md](../../policies/README.md).\n\n"
        "## Exit codes\n\n"
        + table(
            ("Code", "Meaning"),
            [
                ("0", "Clean: everything was judged, and what stands is excused."),
                ("1", "Findings."),
                ("2", "The gate could not judge. No report is left behind; stderr says why."),
            ],
        )
        + "\n## Reports\n\nIn `build/policy`:\n\n"
        + table(
            ("File", ""),
            [
                ("`table.txt`", "What is also printed: each finding with what, where, why, how."),
                ("`report.sarif`", "SARIF 2.1.0, for code scanning. Excused findings suppressed."),
                ("`junit.xml`", "One case for each check of each resource; excused are skipped."),
            ],
        )
        + f"\n## Our checks\n\n{len(checks)}, beside those of checkov and the cross-checks of IAM\n"
        "documents by parliament, policy_sentry and cloudsplaining.\n\n"
        + table(("Check", "What must hold", "Otherwise"), rows)
        + "\n## waivers.yaml\n\n"
        f"A waiver may run for {LONGEST.days} days. One that is over, runs longer, or excuses\n"
        "nothing is a finding. `*` in `path` stands for a part of one name.\n\n"
        + _sections(WaiversFile.model_json_schema())
        + "\n## rules.yaml\n\nWhat the platform demands of blueprints that name GPUs.\n\n"
        + _sections(RulesFile.model_json_schema())
    )


def _sections(schema: Node) -> str:
    return schema_sections(schema).replace("## ", "### ")
