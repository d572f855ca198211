"""`python -m triton_spirv`: what the emitter can do.

    --list-rules      every operation that has a rule, and where the rule stands
    --list-targets    the known targets
"""

from __future__ import annotations

import argparse


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m triton_spirv", description="What the SPIR-V emitter can do.")
    parser.add_argument("--list-rules", action="store_true", help="operation -> file:line of its rule")
    parser.add_argument("--list-targets", action="store_true", help="the known targets")
    options = parser.parse_args(arguments)
    if not (options.list_rules or options.list_targets):
        parser.print_help()
        return 2
    if options.list_rules:
        from .lower import RULES
        for name, entry in sorted(RULES.items()):
            print(f"{name:32} {entry.kind:12} {entry.location}")
    if options.list_targets:
        from .target import TARGETS
        for name, target in sorted(TARGETS.items()):
            print(f"{name:16} {target.environment}, vectors of {target.vector_width}, sub-group size {target.sub_group_size}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
