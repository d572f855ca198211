"""`python -m triton_spirv`: the `triton-spirv` command, and, by options, what the emitter can do.

    COMMAND ...          as `triton-spirv COMMAND ...`: devices, doctor, compile, show, ...
    --list-rules         every operation that has a rule, and where the rule stands
    --list-targets       the known targets, as the command `targets` prints them
    --list-devices       the devices that kernels can run on, a star at the one that is chosen
    --operations-table   the page docs/operations.md
    --environment-table  the page docs/environment.md
    --quirks-table       the page docs/notes/quirks.md
"""

from __future__ import annotations

import argparse
import sys


def main(arguments: list[str] | None = None) -> int:
    """Run a command, or print what is asked for; 2 if nothing is."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and not arguments[0].startswith("-"):
        from .cli.main import main as command
        return command(arguments)
    parser = argparse.ArgumentParser(prog="python -m triton_spirv",
                                     description="What the SPIR-V emitter can do.",
                                     epilog="Without options, the commands of triton-spirv: see "
                                            "triton-spirv --help")
    parser.add_argument("--list-rules", action="store_true", help="operation -> file:line of its rule")
    parser.add_argument("--list-targets", action="store_true", help="the known targets")
    parser.add_argument("--list-devices", action="store_true", help="every device; a star: the chosen one")
    parser.add_argument("--operations-table", action="store_true", help="the page docs/operations.md")
    parser.add_argument("--environment-table", action="store_true", help="the page docs/environment.md")
    parser.add_argument("--quirks-table", action="store_true", help="the page docs/notes/quirks.md")
    options = parser.parse_args(arguments)
    if not any(vars(options).values()):
        parser.print_help()
        return 2
    if options.list_rules:
        from .lower import RULES
        for name, entry in sorted(RULES.items()):
            print(f"{name:32} {entry.kind:12} {entry.location}")
    if options.list_targets:
        from .cli.main import main as command
        return command(["targets"])
    if options.list_devices:
        from .runtime import chosen_device, devices
        from .runtime.vulkan import devices as vulkan
        chosen = chosen_device.chosen()
        for device in (*devices.devices(), *vulkan.devices()):
            print(f"{'*' if device == chosen else ' '} {device}")
    if options.operations_table:
        from .cli.operations import table
        print(table(), end="")
    if options.environment_table:
        from .variables import page
        print(page(), end="")
    if options.quirks_table:
        from . import quirks
        print(quirks.page(), end="")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
