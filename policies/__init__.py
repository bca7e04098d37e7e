"""The policy gate: what a platform demands of every stack and blueprint, and who may be excused."""
