"""Actions that AWS can't limit to some resources: they may be granted on all."""

from typing import Final

UNLIMITED: Final = frozenset(
    {
        "batch:DescribeComputeEnvironments",
        "batch:DescribeJobDefinitions",
        "batch:DescribeJobQueues",
        "batch:DescribeJobs",
        "batch:DescribeSchedulingPolicies",
        "batch:ListJobs",
        "ec2:DescribeAddresses",
        "ec2:DescribeAddressesAttribute",
        "ec2:DescribeFlowLogs",
        "ec2:DescribeInternetGateways",
        "ec2:DescribeLaunchTemplateVersions",
        "ec2:DescribeLaunchTemplates",
        "ec2:DescribeNatGateways",
        "ec2:DescribeNetworkAcls",
        "ec2:DescribeNetworkInterfaces",
        "ec2:DescribePrefixLists",
        "ec2:DescribeRouteTables",
        "ec2:DescribeSecurityGroupRules",
        "ec2:DescribeSecurityGroups",
        "ec2:DescribeSubnets",
        "ec2:DescribeVpcEndpoints",
        "ec2:DescribeVpcs",
        "ecr:GetAuthorizationToken",
        "ecs:DiscoverPollEndpoint",
        "kms:ListAliases",
        "logs:DescribeLogGroups",
        "sns:GetSubscriptionAttributes",
        "sns:Unsubscribe",
        "ssm:DescribeParameters",
    }
)
"""What the stacks of infra/ need. Spelled as AWS does; compared without case."""
