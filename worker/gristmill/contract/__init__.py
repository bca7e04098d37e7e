"""The shared language: what a team chose, what a run is, what is true. Imports nothing of ours."""
