"""How data is spelled: one file per dialect; each reads records and writes outcomes."""
