"""The fixture `command`."""

from command import command  # noqa: F401
