"""`Answers`: what was asked of tensors and is the same at all times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")


class Answers:
    """A question may name a tensor, or what is in it, by its id: what it is about is kept, so that the id
    stays its own."""

    def __init__(self) -> None:
        self._answers: dict[tuple[object, ...], Any] = {}
        self._about: list[object] = []

    def remembered(self, question: tuple[object, ...], about: object, ask: Callable[[], T]) -> T:
        """The answer; `ask` finds it the first time."""
        answers = self._answers
        if question not in answers:
            answers[question] = ask()
            self._about.append(about)
        answer: T = answers[question]
        return answer
