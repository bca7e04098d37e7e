"""A network whose machines reach AWS and, unless asked otherwise, nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from cdktn_provider_aws.default_security_group import DefaultSecurityGroup
from cdktn_provider_aws.eip import Eip
from cdktn_provider_aws.flow_log import FlowLog
from cdktn_provider_aws.internet_gateway import InternetGateway
from cdktn_provider_aws.nat_gateway import NatGateway
from cdktn_provider_aws.route import Route
from cdktn_provider_aws.route_table import RouteTable
from cdktn_provider_aws.route_table_association import RouteTableAssociation
from cdktn_provider_aws.security_group import SecurityGroup
from cdktn_provider_aws.subnet import Subnet
from cdktn_provider_aws.vpc import Vpc
from cdktn_provider_aws.vpc_endpoint import VpcEndpoint
from cdktn_provider_aws.vpc_security_group_egress_rule import VpcSecurityGroupEgressRule
from cdktn_provider_aws.vpc_security_group_ingress_rule import VpcSecurityGroupIngressRule
from constructs import Construct

from gristmill.contract.platform import CreateNetwork
from infra.network_plan import account_policy, public_cidr, storage_policy, subnet_cidrs
from infra.policy import document

HTTPS = 443


@dataclass(frozen=True, slots=True)
class Reachable:
    """What machines may talk to: services by endpoint, and buckets."""

    endpoints: tuple[str, ...]
    buckets: tuple[str, ...]


class PrivateNetwork(Construct):
    """Private subnets, one a zone. No inbound rule but from machines to endpoints."""

    def __init__(
        self,
        scope: Construct,
        id_: str,
        *,
        name: str,
        account: str,
        region: str,
        settings: CreateNetwork,
        zones: Sequence[str],
        reachable: Reachable,
    ) -> None:
        super().__init__(scope, id_)
        self._name, self._account, self._region = name, account, region
        self.vpc = Vpc(
            self,
            "vpc",
            cidr_block=settings.cidr,
            enable_dns_support=True,
            enable_dns_hostnames=True,
            tags={"Name": name},
        )
        DefaultSecurityGroup(self, "closed-default", vpc_id=self.vpc.id)
        self._table = RouteTable(
            self, "private", vpc_id=self.vpc.id, tags={"Name": f"{name}-private"}
        )
        self._subnets = [
            self._subnet(zone, cidr)
            for zone, cidr in zip(zones, subnet_cidrs(settings.cidr, len(zones)), strict=True)
        ]
        self._storage_endpoint(reachable.buckets)
        self._machines = machine_group(self, name, self.vpc.id)
        if settings.egress == "nat":
            self._nat(zones[0], public_cidr(settings.cidr))
            open_to(self, self._machines, "0.0.0.0/0", "HTTPS anywhere, through the NAT gateway")
        else:
            self._endpoints(reachable.endpoints, settings.cidr)
            open_to(self, self._machines, settings.cidr, "endpoints of AWS services")
            self._open_to_storage()

    @property
    def subnet_ids(self) -> list[str]:
        return [subnet.id for subnet in self._subnets]

    @property
    def security_group(self) -> str:
        """For machines."""
        return self._machines.id

    def log_flows(self, role_arn: str, log_group_arn: str) -> None:
        FlowLog(
            self,
            "flows",
            vpc_id=self.vpc.id,
            traffic_type="REJECT",
            log_destination=log_group_arn,
            iam_role_arn=role_arn,
            tags={"Name": self._name},
        )

    def _subnet(self, zone: str, cidr: str) -> Subnet:
        subnet = Subnet(
            self,
            f"subnet-{zone[-1]}",
            vpc_id=self.vpc.id,
            availability_zone=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags={"Name": f"{self._name}-{zone}"},
        )
        RouteTableAssociation(
            self, f"route-{zone[-1]}", subnet_id=subnet.id, route_table_id=self._table.id
        )
        return subnet

    def _storage_endpoint(self, buckets: Sequence[str]) -> None:
        self._storage = VpcEndpoint(
            self,
            "s3",
            vpc_id=self.vpc.id,
            vpc_endpoint_type="Gateway",
            service_name=f"com.amazonaws.{self._region}.s3",
            route_table_ids=[self._table.id],
            policy=document(storage_policy(self._account, self._region, buckets)),
            tags={"Name": f"{self._name}-s3"},
        )

    def _open_to_storage(self) -> None:
        VpcSecurityGroupEgressRule(
            self,
            "to-s3",
            security_group_id=self._machines.id,
            description="S3, through the gateway endpoint",
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            prefix_list_id=self._storage.prefix_list_id,
        )

    def _endpoints(self, services: Sequence[str], cidr: str) -> None:
        group = SecurityGroup(
            self,
            "endpoints",
            name=f"{self._name}-endpoints",
            description="Endpoints of AWS services",
            vpc_id=self.vpc.id,
            tags={"Name": f"{self._name}-endpoints"},
        )
        VpcSecurityGroupIngressRule(
            self,
            "from-machines",
            security_group_id=group.id,
            description="HTTPS from the private subnets",
            ip_protocol="tcp",
            from_port=HTTPS,
            to_port=HTTPS,
            cidr_ipv4=cidr,
        )
        for service in services:
            VpcEndpoint(
                self,
                service.replace(".", "-"),
                vpc_id=self.vpc.id,
                vpc_endpoint_type="Interface",
                service_name=f"com.amazonaws.{self._region}.{service}",
                subnet_ids=self.subnet_ids,
                security_group_ids=[group.id],
                private_dns_enabled=True,
                policy=document(account_policy(self._account)),
                tags={"Name": f"{self._name}-{service}"},
            )

    def _nat(self, zone: str, cidr: str) -> None:
        internet = InternetGateway(self, "internet", vpc_id=self.vpc.id, tags={"Name": self._name})
        public = Subnet(
            self,
            "public",
            vpc_id=self.vpc.id,
            availability_zone=zone,
            cidr_block=cidr,
            map_public_ip_on_launch=False,
            tags={"Name": f"{self._name}-public"},
        )
        table = RouteTable(
            self, "public-routes", vpc_id=self.vpc.id, tags={"Name": f"{self._name}-public"}
        )
        RouteTableAssociation(self, "public-route", subnet_id=public.id, route_table_id=table.id)
        Route(
            self,
            "to-internet",
            route_table_id=table.id,
            destination_cidr_block="0.0.0.0/0",
            gateway_id=internet.id,
        )
        address = Eip(self, "address", domain="vpc", tags={"Name": self._name})
        nat = NatGateway(
            self,
            "nat",
            subnet_id=public.id,
            allocation_id=address.allocation_id,
            tags={"Name": self._name},
            depends_on=[internet],
        )
        Route(
            self,
            "through-nat",
            route_table_id=self._table.id,
            destination_cidr_block="0.0.0.0/0",
            nat_gateway_id=nat.id,
        )


def machine_group(scope: Construct, name: str, vpc_id: str) -> SecurityGroup:
    """Of machines: nothing comes in."""
    return SecurityGroup(
        scope,
        "machines",
        name=f"{name}-machines",
        description="Machines of the batch platform",
        vpc_id=vpc_id,
        tags={"Name": f"{name}-machines"},
    )


def open_to(scope: Construct, group: SecurityGroup, cidr: str, description: str) -> None:
    VpcSecurityGroupEgressRule(
        scope,
        "https-out",
        security_group_id=group.id,
        description=description,
        ip_protocol="tcp",
        from_port=HTTPS,
        to_port=HTTPS,
        cidr_ipv4=cidr,
    )
