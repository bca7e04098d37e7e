import base64
import json

from tests.unit.policies.case import Cases, Trees, of_type, one

KIND = "aws_batch_job_definition"
KEY_ID = "AKIA" + 16 * "Q"
PRIVATE_KEY = "-----BEGIN RSA " + "PRIVATE KEY-----"
HF_TOKEN = "hf_" + 34 * "q"


def job(*command: str, **environment: str) -> Trees:
    container = {
        "command": list(command),
        "environment": [{"name": name, "value": value} for name, value in environment.items()],
        "secrets": [
            {"name": "HF_TOKEN", "valueFrom": "arn:aws:secretsmanager:us-east-1:1:secret:a"}
        ],
    }
    return one(KIND, container_properties=json.dumps(container))


def script(text: str) -> Trees:
    return one(KIND, user_data=base64.b64encode(text.encode()).decode())


def plant(trees: Trees) -> None:
    for definition in of_type(trees, KIND):
        container = json.loads(definition["container_properties"])
        container["environment"].append({"name": "LICENCE", "value": KEY_ID})
        definition["container_properties"] = json.dumps(container)


CASES = Cases(
    judged=f"{KIND}.it",
    passes=[
        job("run", "--max-tokens=256", HF_HUB_OFFLINE="1", MAX_TOKENS="256", TOKENIZERS="0"),
        job(DB_PASSWORD="", API_KEY="${aws_ssm_parameter.key.arn}", TOKEN_FILE="/run/token"),
        job(SECRET_ARN="a", TOKEN="arn:aws:secretsmanager:us-east-1:1:secret:a"),
        script("export TOKEN=$(cat /run/token)\necho ECS_ENABLE_SPOT_INSTANCE_DRAINING=true\n"),
        one(KIND, metadata_options={"http_tokens": "required"}),
    ],
    fails=[
        job(LICENCE=KEY_ID),
        job("run", "--key", HF_TOKEN),
        job(DB_PASSWORD="x"),
        job(openaiApiKey="x"),
        job("sh", "-c", "HF_TOKEN=x gristmill worker"),
        script(PRIVATE_KEY),
        script("export DB_SECRET='x'\n"),
        one(KIND, name="/team/db-password", value="x"),
        one(KIND, value=json.dumps({"accessKey": "x"})),
        one(KIND, target={"input": json.dumps({"Environment": [{"Name": "TOKEN", "Value": "x"}]})}),
    ],
    cannot_tell=[
        one(KIND, container_properties="${jsonencode(local.container)}"),
        one(KIND, user_data="${base64encode(local.script)}"),
        one(KIND, user_data="#!/bin/bash"),
    ],
    plant=plant,
)
