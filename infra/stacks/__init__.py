"""One file a stack: what a team or a platform owns together."""
