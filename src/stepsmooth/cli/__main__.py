"""Run the command line as ``python -m stepsmooth.cli``."""

from stepsmooth.cli import app

app(prog_name="stepsmooth")
