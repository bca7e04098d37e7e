import time; t=time.time()
from cdktn import App, TerraformStack, LocalBackend, S3Backend, Testing
from cdktn_provider_aws.s3_bucket import S3Bucket
from cdktn_provider_aws.provider import AwsProvider
print("import", time.time()-t)
app=App(outdir="/tmp/infra-work/out1")
s=TerraformStack(app,"a-foundation"); AwsProvider(s,"aws",region="us-east-1")
b=S3Bucket(s,"b",bucket="x")
s2=TerraformStack(app,"a-data"); AwsProvider(s2,"aws",region="us-east-1")
S3Bucket(s2,"c",bucket=b.arn)
app.synth(); print(time.time()-t)
