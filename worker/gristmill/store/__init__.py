"""Where objects live: one protocol, one adapter for every kind of storage."""
