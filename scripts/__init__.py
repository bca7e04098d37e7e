"""What writes pages and demonstrations: for the repository, not for a user of the package."""
