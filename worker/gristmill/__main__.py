"""`python -m gristmill`."""

from gristmill.cli.main import main

main()
