"""The straight line of a worker: lease, read, batch, infer, encode, publish part, publish shard."""
