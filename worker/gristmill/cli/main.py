"""The `gristmill` command: puts the commands together and turns every ending into an exit code."""

import sys

import typer

from gristmill import __version__
from gristmill.cli import again, cancel, init, results, run, status, validate, verify, worker
from gristmill.cli.console import complain, print_json
from gristmill.contract.errors import GristmillError
from gristmill.contract.process import ExitCode
from gristmill.runtime.failure import explain

app = typer.Typer(
    name="gristmill",
    help="Grind a large dataset through a model, at the lowest cost per item.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("run")(run.run)
app.command("resume")(run.resume)
app.command("cancel")(cancel.cancel)
app.command("status")(status.status)
app.command("replay")(again.replay)
app.command("retry")(again.retry)
app.command("verify")(verify.verify)
app.command("results")(results.results)
app.command("validate")(validate.validate)
app.command("init")(init.init)
app.command("worker", hidden=True)(worker.worker)

CLICK_USAGE = 2


@app.callback(invoke_without_command=True)
def root(
    ctx: typer.Context,
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        typer.echo(f"gristmill {__version__}")
        raise typer.Exit
    if ctx.invoked_subcommand is None:
        typer.echo(ctx.get_help())


def main() -> None:
    """Console entry. Exit codes are those of `gristmill.contract.process.ExitCode`."""
    try:
        app()
    except GristmillError as error:
        complain(str(error))
        if "--json" in sys.argv[1:]:
            print_json({"exit_code": int(error.exit_code), "message": str(error)})
        sys.exit(error.exit_code)
    except Exception as error:  # noqa: BLE001 - the last stop of every exception
        code, message, frames = explain(error)
        complain("\n  ".join([message, *frames]))
        sys.exit(code)
    except KeyboardInterrupt:
        complain("interrupted; what was finished is kept")
        sys.exit(ExitCode.RECLAIMED)
    except SystemExit as ending:
        sys.exit(ExitCode.USAGE if ending.code == CLICK_USAGE else ending.code)


if __name__ == "__main__":
    main()
