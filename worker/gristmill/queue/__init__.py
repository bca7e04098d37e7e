"""Who works on which shard, for how long."""
