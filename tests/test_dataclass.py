"""dataclass.py: what it makes behaves as what the standard decorator makes, but for frozen records at run
time."""

from __future__ import annotations

import dataclasses
import pickle
import sys
from dataclasses import FrozenInstanceError, field, replace
from typing import Any

import pytest
from triton_spirv.dataclass import dataclass

DECORATORS = {"ours": dataclass, "standard": dataclasses.dataclass}


def classes(decorator: Any) -> dict[str, type]:
    """Of every kind that the package has."""
    @decorator(frozen=True)
    class Frozen:
        """Its own text."""

        x: int
        y: tuple[int, ...] = ()
        told: str = field(default="", compare=False)
        hidden: int = field(default=0, repr=False)

        @property
        def twice(self) -> int:
            return 2 * self.x

    @decorator(frozen=True)
    class Derived(Frozen):
        z: int = 3

        def __post_init__(self) -> None:
            if self.z < 0:
                raise ValueError("negative")

    @decorator
    class Open:
        x: int
        items: list[int] = field(default_factory=list)

    @decorator(frozen=True, eq=False)
    class Identity:
        x: int

    @decorator(frozen=True, kw_only=True)
    class Named:
        x: int
        y: int = 1

    @decorator(frozen=True)
    class Hashed:
        x: int
        y: int = 0

        def __hash__(self) -> int:
            return self.x

        def __repr__(self) -> str:
            return f"<{self.x}>"

    @decorator(frozen=True)
    class Equal:
        x: int

        def __eq__(self, other: object) -> bool:
            return isinstance(other, int)

    @decorator(eq=False, slots=True)
    class Slots:
        x: int

    @decorator(frozen=True)
    class Empty:
        pass

    made = Frozen, Derived, Open, Identity, Named, Hashed, Equal, Slots, Empty
    return {cls.__name__: cls for cls in made}


CASES = [("Frozen", (1,), {}), ("Frozen", (1, (2, 3)), {"told": "a", "hidden": 4}),
         ("Derived", (1, (), "", 0, 5), {}), ("Open", (1,), {}), ("Open", (1, [2]), {}),
         ("Identity", (1,), {}),
         ("Named", (), {"x": 2}), ("Hashed", (1, 2), {}), ("Equal", (1,), {}), ("Slots", (1,), {}),
         ("Empty", (), {})]


def same_hash(x: object, y: object) -> object:
    try:
        return hash(x) == hash(y)
    except TypeError:
        return "unhashable"


@pytest.mark.parametrize(("name", "arguments", "keywords"), CASES, ids=str)
def test_as_the_standard_one(name: str, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> None:
    found = []
    for decorator in DECORATORS.values():
        made = classes(decorator)
        one, other = (made[name](*arguments, **keywords) for _ in range(2))
        changed = replace(one, x=9) if name != "Empty" else one
        found.append((repr(one), one == one, one == other, one != other, one == changed, one == 5,
                      same_hash(one, other), same_hash(one, changed), repr(changed),
                      [each.name for each in dataclasses.fields(one)], hasattr(one, "__dict__"),
                      dataclasses.asdict(one), type(one).__match_args__))
    assert found[0] == found[1]


def test_told_fields_are_not_compared() -> None:
    cls = classes(dataclass)["Frozen"]
    assert cls(1, told="a") == cls(1, told="b") and hash(cls(1, told="a")) == hash(cls(1, told="b"))
    assert cls(1, hidden=1) != cls(1, hidden=2) and cls(1).twice == 2 and cls.__doc__ == "Its own text."


def test_of_another_class() -> None:
    made = classes(dataclass)
    assert made["Frozen"](1) != made["Derived"](1) and made["Derived"](1) != made["Frozen"](1)
    with pytest.raises(ValueError, match="negative"):
        made["Derived"](1, z=-1)
    with pytest.raises(TypeError):
        made["Named"](1)


@dataclass(frozen=True)
class Kept:
    x: int
    y: tuple[int, ...] = ()


def test_records_are_pickled() -> None:
    assert pickle.loads(pickle.dumps(Kept(1, (2,)))) == Kept(1, (2,))


def test_nothing_is_frozen_at_run_time() -> None:
    """The type checker holds it: a test that this is so, and no promise."""
    record = Kept(1)
    record.x = 2  # type: ignore[misc]
    assert record == Kept(2)
    standard = classes(dataclasses.dataclass)["Frozen"](1)
    with pytest.raises(FrozenInstanceError):
        standard.x = 2  # type: ignore[attr-defined]


def test_the_package_uses_no_other() -> None:
    """Each class by the standard decorator costs a first launch 0.4 ms."""
    import triton_spirv.lower

    assert triton_spirv.lower is not None
    slow = {f"{cls.__module__}.{cls.__qualname__}"
            for name, module in list(sys.modules.items()) if name.startswith("triton_spirv.")
            for cls in vars(module).values()
            if isinstance(cls, type) and cls.__module__ == name and "__dataclass_params__" in vars(cls)
            and vars(cls)["__dataclass_params__"].repr}
    assert not slow
