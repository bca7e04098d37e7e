"""Pieces that stacks are made of. Each takes few settings and gives grants."""
