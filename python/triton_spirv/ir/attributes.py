"""Types and attributes from tokens: `Reader` holds a token list and reads at an index, giving (value, next
index).

Types are single tokens (lexer.py) and kept by text; only function types span several.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, NoReturn

from . import dense, numbers
from .lexer import END, tokenize
from .tokens import is_number, shown, split_top, unescape
from .types import (
    FLOAT_WIDTHS,
    DenseAttr,
    Encoding,
    FloatType,
    FunctionType,
    IndexType,
    IntegerType,
    MemDescType,
    NoneType,
    OpaqueAttr,
    OpaqueType,
    PointerType,
    SymbolRef,
    TensorDescType,
    TensorType,
    TokenType,
    TupleType,
    Type,
    VectorType,
)

_INTEGER = re.compile(r"([su]?)i(\d+)\Z")
_SHAPED = re.compile(r"((?:\d+x)*)(.+)\Z", re.DOTALL)


MAX_DEPTH = 64  # of types in types, lists in lists, layouts in layouts
TOO_DEEP = f"types and attributes are nested more than {MAX_DEPTH} deep"


class Reader:
    """Reads types and attributes; `aliases` are the module's #name and !name definitions."""

    def __init__(
        self,
        tokens: list[str],
        aliases: dict[str, str],
        fail: Callable[[str, int], NoReturn],
        check: Callable[[Type], None],
        depth: int = 0,
    ) -> None:
        if depth > MAX_DEPTH:
            raise ValueError(TOO_DEEP)
        self.check = check  # of each type, once: ValueError says what is wrong with it
        self.depth = depth  # of what is being read in what holds it
        self.tokens = tokens
        self.aliases = aliases
        self.types: dict[str, Type] = {}
        self.flat: dict[str, dict[str, Any]] = {}
        self.encodings: dict[str, Encoding] = {}  # one for each spelling, whatever tensors have it
        self.fail = fail

    def expect(self, i: int, token: str) -> int:
        if self.tokens[i] != token:
            self.fail(f"expected {token!r}, found {shown(self.tokens[i])}", i)
        return i + 1

    def inner(self, text: str) -> Reader:
        """A reader of a part of a token; it raises ValueError, for the place is known outside."""
        inner = Reader(tokenize(text), self.aliases, _refuse, self.check, self.depth + 1)
        inner.types, inner.flat, inner.encodings = self.types, self.flat, self.encodings
        return inner

    def enter(self, i: int) -> None:
        """One more level; who leaves it takes it off `depth`. A failure ends the reading anyway."""
        self.depth += 1
        if self.depth > MAX_DEPTH:
            self.fail(TOO_DEEP, i)

    def at(self, i: int, read: Callable[..., Any], *arguments: Any) -> Any:
        """What `read` gives; its ValueError becomes a failure at token i."""
        try:
            return read(*arguments)
        except ValueError as error:
            self.fail(str(error), i)

    # types

    def type(self, i: int) -> tuple[Type, int]:
        token = self.tokens[i]
        found = self.types.get(token)
        if found is not None:
            return found, i + 1
        if token == "(":
            self.enter(i)
            inputs, i = self.type_list(i)
            i = self.expect(i, "->")
            results, i = self.results(i)
            self.depth -= 1
            return FunctionType(tuple(inputs), tuple(results)), i
        try:
            result = self.type_of(token)
        except (ValueError, KeyError) as error:
            self.fail(f"cannot read the type {token!r}: {error}", i)
        return result, i + 1

    def type_list(self, i: int) -> tuple[list[Type], int]:
        """(a, b)"""
        i = self.expect(i, "(")
        types: list[Type] = []
        while self.tokens[i] != ")":
            if types:
                i = self.expect(i, ",")
            type, i = self.type(i)
            types.append(type)
        return types, i + 1

    def results(self, i: int) -> tuple[list[Type], int]:
        """a, or (a, b)"""
        if self.tokens[i] == "(":
            return self.type_list(i)
        type, i = self.type(i)
        return [type], i

    def type_of(self, text: str) -> Type:
        """The type that a token spells. ValueError: none does."""
        found = self.types.get(text)
        if found is None:
            self.depth += 1
            try:
                if self.depth > MAX_DEPTH:
                    raise ValueError(TOO_DEEP)
                found = self._type_of(text)
            finally:
                self.depth -= 1
            self.check(found)
            self.types[text] = found
        return found

    def _type_of(self, text: str) -> Type:
        if match := _INTEGER.match(text):
            return IntegerType(int(match[2]), match[1])
        if text in FLOAT_WIDTHS:
            return FloatType(text)
        if text in _PLAIN:
            return _PLAIN[text]
        if text in self.aliases:
            return self.type_of(self.aliases[text])
        if text.startswith("!llvm."):
            return OpaqueType(text)
        name, _, inside = text.partition("<")
        inside = inside[:-1]
        if not text.endswith(">"):
            raise ValueError("unknown type" if text[:1] != "!" else "unknown type or alias")
        if name == "!tt.ptr":
            pointee, *where = split_top(inside)
            return PointerType(
                self.type_of(pointee), ADDRESS_SPACES.get(where[0]) or int(where[0]) if where else 1
            )
        if name == "tensor":
            shape, element, rest = self._shaped(inside)
            if len(rest) > 1:
                raise ValueError("more than one encoding")
            return TensorType(shape, element, self.attribute_of(rest[0]) if rest else None)
        if name == "!ttg.memdesc":
            shape, element, rest = self._shaped(inside)
            if len(rest) < 2:
                raise ValueError("no encoding and memory space")
            encoding, space = rest[:2]
            rest = rest[2:]
            mutable = rest[:1] == ["mutable"]
            dims = rest[1:] if mutable else rest
            alloc = tuple(int(n) for n in dims[0].split("x")) if dims else shape
            return MemDescType(
                shape, element, self.attribute_of(encoding), self.attribute_of(space), mutable, alloc
            )
        if name == "!tt.tensordesc":
            wrapped = inside.startswith("tensor<")
            block = self.type_of(inside if wrapped else f"tensor<{inside}>")
            assert isinstance(block, TensorType)
            return TensorDescType(block, wrapped)
        if name == "vector":
            shape, element, _ = self._shaped(inside)
            return VectorType(shape, element)
        if name == "tuple":
            return TupleType(tuple(self.type_of(part) for part in split_top(inside)) if inside else ())
        raise ValueError("unknown type")

    def _shaped(self, inside: str) -> tuple[tuple[int, ...], Type, list[str]]:
        """AxBxelement, rest..."""
        first, *rest = split_top(inside)
        match = _SHAPED.match(first)
        if match is None:
            raise ValueError("no shape")
        return tuple(int(n) for n in match[1].split("x")[:-1]), self.type_of(match[2]), rest

    # attributes

    def attribute_of(self, text: str) -> Any:
        """The value of an attribute given as text of its own."""
        known = self.encodings.get(text)
        if known is not None:
            return known
        inner = self.inner(text)
        value, i = inner.attribute(0)
        if inner.tokens[i] != END:
            return OpaqueAttr(text)
        if isinstance(value, Encoding):
            self.encodings[text] = value
        return value

    def dictionary(self, i: int) -> tuple[dict[str, Any], int]:
        """{a = 1 : i32, b}; the token may be the whole of it."""
        token = self.tokens[i]
        if len(token) > 1:
            found = self.flat.get(token)
            if found is None:
                found = self.flat[token] = self.at(i, self._flat, token)
            return dict(found), i + 1
        self.enter(i)
        read = self.pairs(self.expect(i, "{"), "}")
        self.depth -= 1
        return read

    def properties(self, i: int) -> tuple[dict[str, Any], int]:
        """<{a = 1 : i32}>"""
        token = self.tokens[i]
        if len(token) > 2:
            found = self.flat.get(token)
            if found is None:
                found = self.flat[token] = self.at(i, self._flat, token[1:-1])
            return dict(found), i + 1
        i = self.expect(i, "<{")
        return self.pairs(i, "}>")

    def _flat(self, token: str) -> dict[str, Any]:
        return self.inner(token[1:-1]).pairs(0, END)[0]

    def pairs(self, i: int, close: str) -> tuple[dict[str, Any], int]:
        """key = value, key, ... up to `close`"""
        tokens = self.tokens
        values: dict[str, Any] = {}
        while tokens[i] != close:
            if values:
                i = self.expect(i, ",")
            key = tokens[i]
            if key[0] == '"':
                key = unescape(key)
            elif not (key[0].isalpha() or key[0] == "_"):
                self.fail(f"expected the name of an attribute, found {shown(key)}", i)
            i += 1
            if tokens[i] == "=":
                values[key], i = self.attribute(i + 1)
            else:
                values[key] = True
        return values, i + 1

    def attribute(self, i: int) -> tuple[Any, int]:
        """One attribute value with its type, if it has one."""
        tokens = self.tokens
        token = tokens[i]
        first = token[0]
        if first == '"':
            value = unescape(token)
            if tokens[i + 1] == ":":
                return value, self.type(i + 2)[1]
            return value, i + 1
        if first.isdigit() or first == "-":
            if tokens[i + 1] == ":":
                type, after = self.type(i + 2)
                return self.number(token, type, i), after
            if not is_number(token):
                self.fail(f"{shown(token)} is no number", i)
            return (float(token) if "." in token else int(token, 0)), i + 1
        if token in _WORDS:
            value = _WORDS[token]
            return value, i + 1
        if first == "[":
            items: list[Any] = []
            self.enter(i)
            i += 1
            while tokens[i] != "]":
                if items:
                    i = self.expect(i, ",")
                value, i = self.attribute(i)
                items.append(value)
            self.depth -= 1
            return tuple(items), i + 1
        if first == "{":
            return self.dictionary(i)
        if first == "@":
            return SymbolRef(unescape(token[1:]) if token[1:2] == '"' else token[1:]), i + 1
        if first == "#":
            return self.at(i, self._hash, token, i), i + 1
        if token.startswith("array<"):
            return self.at(i, self._array, token[6:-1]), i + 1
        if token.startswith("dense<"):
            type, after = self._type_of_numbers(self.expect(i + 1, ":"))
            if not isinstance(type, (TensorType, VectorType)):
                self.fail(f"dense<...> of {type}, which is no tensor", i)
            return self.at(i, self._dense, token[6:-1], type), after
        if first == "(" or first == "!" or token in self.types:
            return self.type(i)
        try:
            return self.type_of(token), i + 1
        except (ValueError, KeyError):
            if "<" in token:
                return OpaqueAttr(token), i + 1
            self.fail(f"expected an attribute, found {shown(token)}", i)

    def number(self, token: str, type: Type, i: int) -> int | float:
        """The literal at token i, of a type."""
        value: int | float = self.at(i, numbers.literal, token, type)
        return value

    def _hash(self, token: str, i: int) -> Any:
        if token in self.aliases:
            return self.attribute_of(self.aliases[token])
        name, bracket, inside = token[1:].partition("<")
        dialect, dot, name = name.partition(".")
        if not dot:
            if bracket:
                return OpaqueAttr(token)
            self.fail(f"unknown alias {token!r}", i)
        parts = split_top(inside[:-1]) if inside else []
        if len(parts) == 1 and _is_dictionary(parts[0]):
            return Encoding(dialect, name, self._items(parts[0]))
        items: list[tuple[str, Any]] = []
        for part in parts:
            key, equals, value = part.partition(" = ")
            if _is_dictionary(part):
                items += self._items(part)
            elif equals and key.isidentifier():
                items.append((key, value if value.isidentifier() else _frozen(self.attribute_of(value))))
        return Encoding(dialect, name, tuple(items), ", ".join(parts))

    def _items(self, text: str) -> tuple[tuple[str, Any], ...]:
        """The pairs of a dictionary, given as text of its own."""
        read = _frozen(self.attribute_of(text))
        if not isinstance(read, Encoding):
            raise ValueError(f"{shown(text)} is not a dictionary")
        return read.items

    def _type_of_numbers(self, i: int) -> tuple[Type, int]:
        """The type of dense<...>. Hints have a number for each dimension, and no tensor of a kernel may have
        three: such a type is not checked here, and not remembered."""
        found = _NUMBERS.fullmatch(self.tokens[i])
        if found is None:
            return self.type(i)
        return TensorType((int(found[1]),), IntegerType(int(found[2]))), i + 1

    def _array(self, inside: str) -> tuple[Any, ...]:
        element, _, values = inside.partition(":")
        if not values:
            return ()
        type = self.type_of(element.strip())
        words = (word.strip() for word in values.split(","))
        return tuple(_WORDS[word] if word in _WORDS else numbers.literal(word, type) for word in words)

    def _dense(self, inside: str, type: TensorType | VectorType) -> DenseAttr:
        element = type.element
        if not isinstance(element, (IntegerType, IndexType, FloatType)):
            raise ValueError(f"dense<...> of {type}, which has no numbers")
        if inside[:1] == '"':
            return dense.of_bytes(bytes.fromhex(inside[3:-1]), type)
        words = inside.replace("[", " ").replace("]", " ").replace(",", " ").split()
        values = tuple(_WORDS[word] if word in _WORDS else numbers.literal(word, element) for word in words)
        return dense.of_numbers(values, "[" in inside or not words, type)


_NUMBERS = re.compile(r"tensor<(\d{1,2})xi(32|64)>")

_PLAIN: dict[str, Type] = {
    "index": IndexType(),
    "none": NoneType(),
    "!ttg.async.token": TokenType(),
    "!ts.bits<f16>": FloatType("f16", as_bits=True),
}
ADDRESS_SPACES = {'"global"': 1, '"constant"': 4, '"descriptor"': -1}  # newer spelling of the numbers
_WORDS: dict[str, Any] = {"true": True, "false": False, "unit": True}


def _refuse(message: str, i: int) -> NoReturn:
    raise ValueError(message)


def _frozen(value: object) -> object:
    """Hashable: lists as tuples, a dictionary inside a layout as an Encoding without a name."""
    if isinstance(value, dict):
        return Encoding("", "", tuple((key, _frozen(v)) for key, v in value.items()))
    return tuple(map(_frozen, value)) if isinstance(value, (list, tuple)) else value


def _is_dictionary(text: str) -> bool:
    return text[:1] == "{" and text[-1:] == "}"
