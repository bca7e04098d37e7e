"""gristmill: offline inference over large datasets at the lowest cost per item."""

__version__ = "0.1.0"
