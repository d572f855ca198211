"""`LaterUses`: will anything ask for a value again?"""

from __future__ import annotations

from collections.abc import Collection

from ...ir.model import Operation, Value
from ...traversal import Asking
from ..bindings import Bindings
from ..values.tensor import Affine, Deferred, Pointers


class LaterUses:
    """What is not lowered yet, and what waits to be evaluated, asks for its operands."""

    def __init__(self, bindings: Bindings) -> None:
        self._bindings = bindings
        #: products that may read their left operand where it lies: none computes it for those that do, too
        self.reading_together: Collection[Operation] = ()

    def computes_for_all(self, op: Operation) -> None:
        """The left operand of a product is not read where it lies: others that have it take what it makes."""
        self.reading_together = [each for each in self.reading_together
                                 if each.operands[0] is not op.operands[0]]

    def needs(self, node: Deferred, op: Operation | None, kept: Collection[Deferred] = ()) -> bool:
        """Will an operation other than `op` ask for the node again, directly or through what is not kept, now
        or by the walk at hand?

        Pointers ask for the summands of their offset, whatever becomes of the sum (`Deferred.pointers`).
        """
        frame = self._bindings.frame
        waiting = _users(node)
        seen = {op}
        if op is not None and op in self.reading_together:
            seen |= {each for each in self.reading_together if each.operands[0] is op.operands[0]}
        while waiting:
            user = waiting.pop()
            if user in seen:
                continue
            seen.add(user)
            if user not in frame.lowered:
                return True
            for result in user.results:
                bound = frame.values.get(result)
                if isinstance(bound, Affine):
                    bound = bound.exact
                if isinstance(bound, Pointers):
                    waiting += [user for user, _ in result.uses]
                elif isinstance(bound, Deferred) and bound.evaluated is None and bound not in kept:
                    waiting += _users(bound)
        return False

    def feeds_only(self, value: Deferred, node: Deferred) -> bool:
        """Is every use of `value` that is still to come a step of one chain that ends in `node`?"""
        while value is not node:
            users = {user for user in _users(value) if not self.is_done(user)}
            if len(users) != 1:
                return False
            bound = [self._bindings.frame.values.get(result) for result in users.pop().results]
            if len(bound) != 1 or not isinstance(bound[0], Deferred):
                return False
            value = bound[0]
        return True

    def is_done(self, user: Operation) -> bool:
        """Has an operation been executed, or its value been kept, so that it asks for its operands no
        more?
        """
        frame = self._bindings.frame
        values = [frame.values.get(result) for result in user.results]
        waits = any(
            isinstance(x, (Pointers, Affine)) or (isinstance(x, Deferred) and x.evaluated is None)
            for x in values
        )
        return user in frame.lowered and not waits

    def are_over(self, value: Value) -> Asking[bool]:
        """Will nothing ask for a value again, nor for what is computed from it, kept or not?"""
        frame = self._bindings.frame
        for user, _ in value.uses:
            if user not in frame.lowered:
                return False
            for result in user.results:
                if isinstance(frame.values.get(result), (Deferred, Pointers, Affine)) and not (
                        yield (result,)):
                    return False
        return True


def _users(node: Deferred) -> list[Operation]:
    """What uses the value, or pointers with it among the summands of their offset."""
    results = (node.operation.results[node.index], *node.pointers)
    return [user for result in results for user, _ in result.uses]
