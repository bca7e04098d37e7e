"""What computes: one file per engine library, found by name through a table."""
