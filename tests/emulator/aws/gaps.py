"""What the emulator gets wrong, each with its cause. Reviewed: a line goes when its cause does."""

DRIFT = {
    ("aws_vpc_endpoint", "policy"): "LocalStack drops the Version of a policy",
    (
        "aws_vpc_security_group_egress_rule",
        "description",
    ): "moto forgets the description of a rule for a prefix list",
    ("aws_batch_job_definition", "scheduling_priority"): "moto forgets it",
    ("aws_batch_job_queue", "job_state_time_limit_action"): "moto forgets it",
    (
        "aws_launch_template",
        "tag_specifications",
    ): "moto lists the template's own tags among those of what it starts",
    ("aws_launch_template", "default_version"): "computed anew, as tag_specifications differ",
    ("aws_launch_template", "latest_version"): "computed anew, as tag_specifications differ",
    (
        "aws_batch_compute_environment",
        "compute_resources",
    ): "names the template's latest_version, see there",
    ("aws_cloudwatch_metric_alarm", "tags_all"): "LocalStack forgets the tags of an alarm",
}
"""(type, attribute) of a change that a second plan may see."""

WORKER_UNUSED = {
    "s3:AbortMultipartUpload": "only when a large upload fails",
    "kms:Decrypt": "S3 asks in the worker's name when an object is read",
    "kms:GenerateDataKey": "S3 asks in the worker's name when an object is written",
    "sqs:ReceiveMessage": "the run there takes its shards from a local queue",
    "sqs:DeleteMessage": "the run there takes its shards from a local queue",
    "sqs:ChangeMessageVisibility": "the run there takes its shards from a local queue",
    "sqs:GetQueueAttributes": "the run there takes its shards from a local queue",
    "sqs:SendMessage": "the run there takes its shards from a local queue",
}
"""Granted to the worker, and not called in a run that goes well."""

CLIENT_UNUSED = WORKER_UNUSED | {
    "batch:SubmitJob": "for submitting to AWS Batch, which the client does not do yet",
    "batch:TagResource": "asked by AWS Batch for a submission with tags",
    "batch:TerminateJob": "for cancelling, which the client does not do yet",
    "batch:CancelJob": "for cancelling, which the client does not do yet",
    "batch:DescribeJobs": "for watching, which the client does not do yet",
    "batch:ListJobs": "for watching, which the client does not do yet",
    "ssm:GetParameter": "for reading the deployment, which the client does not do yet",
    "logs:GetLogEvents": "for a person who looks for a worker's words",
    "logs:FilterLogEvents": "for a person who looks for a worker's words",
}
"""Granted to coordinator and submitter likewise."""

MACHINE_ROLES = ("embed-corpus-instance", "embed-corpus-execution", "embed-corpus-scheduler")
"""Used by AWS's own agents and services, whose calls no emulator makes. Their actions are those of
AWS's documentation, pinned word for word in tests/unit/infra/test_access.py."""

DEPLOY_UNUSED = {
    "kms:CreateGrant": "AWS asks in the deployer's name when a repository is encrypted",
    "kms:Decrypt": "AWS asks in the deployer's name when a topic is encrypted",
    "kms:GenerateDataKey": "AWS asks in the deployer's name when a topic is encrypted",
    "kms:TagResource": "asked by AWS for making a key with tags",
    "kms:PutKeyPolicy": "when a key's policy changes",
    "iam:PassRole": "asked by AWS where a role is handed on; never a call",
    "iam:CreateServiceLinkedRole": "asked by AWS when an account's first environment is made",
    "iam:TagRole": "asked by AWS for making a role with tags",
    "iam:TagInstanceProfile": "asked by AWS for making a profile with tags",
    "batch:TagResource": "asked by AWS for making things with tags",
    "budgets:TagResource": "asked by AWS for making a budget with tags",
    "cloudwatch:TagResource": "asked by AWS for making an alarm with tags",
    "ecr:TagResource": "asked by AWS for making a repository with tags",
    "events:TagResource": "asked by AWS for making a rule with tags",
    "logs:TagResource": "asked by AWS for making a log group with tags",
    "sns:TagResource": "asked by AWS for making a topic with tags",
    "sqs:TagQueue": "asked by AWS for making a queue with tags",
    "ssm:AddTagsToResource": "asked by AWS for making a parameter with tags",
    "ec2:CreateLaunchTemplateVersion": "when the template changes",
    "ec2:ModifyLaunchTemplate": "when the template changes",
    "ec2:ModifyVpcEndpoint": "when an endpoint's policy changes",
    "scheduler:UpdateSchedule": "when the schedule changes",
    "sqs:SetQueueAttributes": "when the attempts change",
}
"""Granted to the pipeline, and not called while everything is made and destroyed once."""

PIPELINE_STACK = {
    "iam:CreateOpenIDConnectProvider",
    "iam:DeleteOpenIDConnectProvider",
    "iam:TagOpenIDConnectProvider",
    "iam:CreatePolicy",
    "iam:DeletePolicy",
    "iam:GetPolicy",
    "iam:GetPolicyVersion",
    "iam:ListPolicyVersions",
    "iam:AttachRolePolicy",
    "iam:DetachRolePolicy",
}
"""Called for the pipeline's own stack, which a person deploys: a pipeline that could would grant
itself anything."""

EMPTYING = {"s3:DeleteObjects", "s3:ListBucketVersions"}
"""Called to empty buckets that `protect: false` lets go. A person does that; a pipeline can't."""

NOT_IAM = {
    "sts:GetCallerIdentity": "needs no permission",
    "cloudwatch:PutMetricData": "LocalStack's own",
    "events:PutEvents": "LocalStack's own",
    "iam:GetUser": "asked by the provider to find the account; it does without",
}
