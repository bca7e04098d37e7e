"""Our checks as checkov's: the one file that knows checkov, and runs in its environment alone."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

from checkov.common.models.enums import CheckCategories, CheckResult
from checkov.terraform.checks.resource.base_resource_check import BaseResourceCheck

from policies.check import LoadedCheck, load_checks
from policies.reading.stack import App
from policies.scan import ENV_APPS, ENV_CHECKS, ENV_PREFIX

app_at = cache(App.load)


class Adapted(BaseResourceCheck):  # type: ignore[misc]
    """checkov hands us each resource; we judge the same one in the JSON as it was written.

    What a check can't tell fails: checkov would drop it without a word.
    """

    def __init__(self, loaded: LoadedCheck) -> None:
        self._loaded = loaded
        super().__init__(
            name=loaded.check.title,
            id=loaded.id,
            categories=[CheckCategories.CONVENTION],
            supported_resources=list(loaded.check.resources),
            guideline=loaded.check.source,
        )

    def scan_resource_conf(self, conf: dict[str, Any]) -> CheckResult:
        del conf  # checkov's reshaped copy
        file, type_, name = self.entity_path.split(":")
        folder = Path(os.environ[ENV_APPS] + file).parent
        stack = app_at(folder.parent).stacks[folder.name]
        resource = next(r for r in stack.resources(type_) if r.name == name)
        verdict = self._loaded.verdict(resource)
        self.details = [
            json.dumps(
                {
                    "path": resource.path,
                    "answer": verdict.answer,
                    "reasons": verdict.reasons,
                }
            )
        ]
        return CheckResult.PASSED if verdict.answer == "pass" else CheckResult.FAILED


ADAPTED = [
    Adapted(loaded) for loaded in load_checks(Path(os.environ[ENV_CHECKS]), os.environ[ENV_PREFIX])
]
