"""Random P4 expressions of every operator, with what Python's integers say they give.

A program computes each expression twice: of header fields, and of constants that the compiler
folds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from random import Random

MAX_WIDTH = 2048

Leaf = Callable[[int], str]
"""What a field is called, by its index."""


@dataclass(frozen=True)
class Type:
    """``bit<width>`` or ``int<width>``; of width 0 ``bool``."""

    width: int
    signed: bool = False

    def __str__(self) -> str:
        return f"{'int' if self.signed else 'bit'}<{self.width}>" if self.width else "bool"

    @property
    def least(self) -> int:
        return -(1 << self.width - 1) if self.signed else 0

    @property
    def greatest(self) -> int:
        return (1 << self.width - self.signed) - 1

    def wrapped(self, value: int) -> int:
        """The number of this type that equals ``value`` modulo 2 to the width."""
        return (value - self.least) % (1 << self.width) + self.least

    def clamped(self, value: int) -> int:
        return min(max(value, self.least), self.greatest)


BOOL = Type(0)


@dataclass(frozen=True)
class Expression:
    """An expression of a type: its text, and its value for values of the fields."""

    type: Type
    text: Callable[[Leaf], str]
    value: Callable[[Sequence[int]], int]

    @property
    def bits(self) -> int:
        """The width of its result as a ``bit<W>``."""
        return self.type.width or 1


@dataclass(frozen=True)
class Case:
    """A program, a packet of its fields, and the packet that must come back."""

    program: str
    packet: bytes
    expected: bytes


def case(seed: int, expressions: int = 12) -> Case:
    """A program of random expressions of four random fields."""
    random = Random(seed)
    widths = [random_width(random) for _ in range(4)]
    values = [random_value(random, width) for width in widths]
    grower = Grower(random, widths)
    made = [grower.expression(grower.type(), 4) for _ in range(expressions)]
    results = [Type(e.bits).wrapped(e.value(values)) for e in made]
    return Case(
        _program(widths, values, made),
        _octets(zip(widths, values, strict=True)),
        _octets((e.bits, value) for e, value in zip(made * 2, results * 2, strict=True)),
    )


def random_width(random: Random) -> int:
    """From 1 to 2048: small, about a whole number of words of 64 bits, or any."""
    near_words = min(max(64 * random.randint(0, 32) + random.randint(-1, 1), 1), MAX_WIDTH)
    return random.choice([random.randint(1, 16), near_words, random.randint(1, MAX_WIDTH)])


def random_value(random: Random, width: int) -> int:
    """Below 2 to the width: the least, the greatest, those of ``int<W>``, one bit, or any."""
    power, half = 1 << width, 1 << width - 1
    one_bit = 1 << random.randrange(width)
    return (
        random.choice(
            [0, 1, power - 1, half, half - 1, one_bit, *([random.getrandbits(width)] * 3)]
        )
        % power
    )


def _literal(of: Type, number: int) -> Expression:
    return Expression(of, lambda _: f"{of.width}w{number}", lambda _: number)


class Grower:
    """Grows expressions of fields of certain widths."""

    def __init__(self, random: Random, widths: Sequence[int]) -> None:
        self.random = random
        self.widths = widths

    def type(self) -> Type:
        random = self.random
        return random.choice(
            [BOOL, *(Type(random_width(random), random.random() < 0.5) for _ in range(4))]
        )

    def expression(self, of: Type, depth: int) -> Expression:
        if depth == 0:
            return self.leaf(of)
        if of == BOOL:
            grow = self.random.choice(
                [self.leaf, self.compared, self.compared, self.logical, self.chosen]
            )
        else:
            grow = self.random.choice(
                [
                    *(
                        self.leaf,
                        self.negated,
                        self.cast,
                        self.sliced,
                        self.concatenated,
                        self.chosen,
                    ),
                    *([self.arithmetic] * 5),
                    *([self.shifted] * 2),
                    self.divided,
                ]
            )
        return grow(of, depth - 1)

    def leaf(self, of: Type, _depth: int = 0) -> Expression:
        if of == BOOL:
            return self._converted(self.leaf(Type(1)), of)
        if of.signed:
            return self._converted(self.leaf(Type(of.width)), of)
        if self.random.random() < 0.3:
            number = random_value(self.random, of.width)
            return _literal(of, number)
        field = self.random.randrange(len(self.widths))
        read = Expression(
            Type(self.widths[field]), lambda leaf: leaf(field), lambda fields: fields[field]
        )
        return read if read.type == of else self._converted(read, of)

    def _converted(self, inner: Expression, to: Type) -> Expression:
        def value(fields: Sequence[int]) -> int:
            number = inner.value(fields)
            return to.wrapped(number) if to.width else number

        return Expression(to, lambda leaf: f"(({to}) {inner.text(leaf)})", value)

    def negated(self, of: Type, depth: int) -> Expression:
        inner = self.expression(of, depth)
        if self.random.random() < 0.5:
            return Expression(
                of, lambda leaf: f"(-{inner.text(leaf)})", lambda f: of.wrapped(-inner.value(f))
            )
        return Expression(
            of, lambda leaf: f"(~{inner.text(leaf)})", lambda f: of.wrapped(~inner.value(f))
        )

    def cast(self, of: Type, depth: int) -> Expression:
        other = random_width(self.random)
        choices = [Type(other, of.signed), Type(of.width, not of.signed)]
        if of == Type(1):
            choices.append(BOOL)
        return self._converted(self.expression(self.random.choice(choices), depth), of)

    def sliced(self, of: Type, depth: int) -> Expression:
        if of.signed:
            return self.arithmetic(of, depth)
        low = self.random.randint(0, min(MAX_WIDTH - of.width, 150))
        high = low + of.width - 1
        width = self.random.randint(high + 1, min(high + 100, MAX_WIDTH))
        inner = self.expression(Type(width, self.random.random() < 0.3), depth)
        return Expression(
            of,
            lambda leaf: f"({inner.text(leaf)})[{high}:{low}]",
            lambda fields: of.wrapped(inner.value(fields) >> low),
        )

    def concatenated(self, of: Type, depth: int) -> Expression:
        if of.width < 2:
            return self.arithmetic(of, depth)
        low_width = self.random.randint(1, of.width - 1)
        high = self.expression(Type(of.width - low_width, of.signed), depth)
        low = self.expression(Type(low_width, self.random.random() < 0.3), depth)

        def value(fields: Sequence[int]) -> int:
            return high.value(fields) << low_width | low.value(fields) % (1 << low_width)

        return Expression(of, lambda leaf: f"({high.text(leaf)} ++ {low.text(leaf)})", value)

    def chosen(self, of: Type, depth: int) -> Expression:
        condition = self.expression(BOOL, depth)
        yes, no = self.expression(of, depth), self.expression(of, depth)
        return Expression(
            of,
            lambda leaf: f"({condition.text(leaf)} ? {yes.text(leaf)} : {no.text(leaf)})",
            lambda fields: (yes if condition.value(fields) else no).value(fields),
        )

    def _binary(
        self, of: Type, symbol: str, a: Expression, b: Expression, op: Callable[[int, int], int]
    ) -> Expression:
        return Expression(
            of,
            lambda leaf: f"({a.text(leaf)} {symbol} {b.text(leaf)})",
            lambda fields: op(a.value(fields), b.value(fields)),
        )

    def arithmetic(self, of: Type, depth: int) -> Expression:
        a, b = self.expression(of, depth), self.expression(of, depth)
        operators: dict[str, Callable[[int, int], int]] = {
            "+": lambda x, y: of.wrapped(x + y),
            "-": lambda x, y: of.wrapped(x - y),
            "*": lambda x, y: of.wrapped(x * y),
            "|+|": lambda x, y: of.clamped(x + y),
            "|-|": lambda x, y: of.clamped(x - y),
            "&": lambda x, y: x & y,
            "|": lambda x, y: x | y,
            "^": lambda x, y: x ^ y,
        }
        symbol = self.random.choice(list(operators))
        return self._binary(of, symbol, a, b, operators[symbol])

    def shifted(self, of: Type, depth: int) -> Expression:
        amount = self.random.choice(
            [0, 1, 63, 64, 65, 128, of.width - 1, of.width, of.width + 1, 5000]
        )
        by = _literal(Type(16), amount)
        if self.random.random() < 0.5:
            by = self.expression(Type(of.width.bit_length()), depth)
        a = self.expression(of, depth)
        if self.random.random() < 0.5:
            return self._binary(of, "<<", a, by, lambda x, y: of.wrapped(x << y))
        return self._binary(of, ">>", a, by, lambda x, y: x >> y)

    def divided(self, of: Type, depth: int) -> Expression:
        """By a power of two, as a packet's fields cannot be divided by anything else."""
        if of.signed:
            return self.arithmetic(of, depth)
        power = 1 << self.random.randrange(of.width)
        by = _literal(of, power)
        a = self.expression(of, depth)
        if self.random.random() < 0.5:
            return self._binary(of, "/", a, by, lambda x, y: x // y)
        return self._binary(of, "%", a, by, lambda x, y: x % y)

    def compared(self, of: Type, depth: int) -> Expression:
        operands = Type(random_width(self.random), self.random.random() < 0.5)
        a, b = self.expression(operands, depth), self.expression(operands, depth)
        operators: dict[str, Callable[[int, int], int]] = {
            "==": lambda x, y: x == y,
            "!=": lambda x, y: x != y,
            "<": lambda x, y: x < y,
            "<=": lambda x, y: x <= y,
            ">": lambda x, y: x > y,
            ">=": lambda x, y: x >= y,
        }
        symbol = self.random.choice(list(operators))
        return self._binary(of, symbol, a, b, operators[symbol])

    def logical(self, of: Type, depth: int) -> Expression:
        a, b = self.expression(of, depth), self.expression(of, depth)
        operators: dict[str, Callable[[int, int], int]] = {
            "&&": lambda x, y: x & y,
            "||": lambda x, y: x | y,
            "==": lambda x, y: x == y,
            "!=": lambda x, y: x != y,
        }
        symbol = self.random.choice([*operators, "!"])
        if symbol == "!":
            return Expression(
                of, lambda leaf: f"(!{a.text(leaf)})", lambda fields: 1 - a.value(fields)
            )
        return self._binary(of, symbol, a, b, operators[symbol])


def _program(widths: Sequence[int], values: Sequence[int], made: Sequence[Expression]) -> str:
    outcomes = [expression.bits for expression in (*made, *made)]
    constants: list[str] = []
    statements: list[str] = []
    for i, (width, value) in enumerate(zip(widths, values, strict=True)):
        constants.append(f"const bit<{width}> C{i} = {width}w{value};")
    for i, expression in enumerate(made):
        conversion = f"(bit<{expression.bits}>) "
        of_fields = expression.text(lambda field: f"hdr.i.f{field}")
        of_constants = expression.text(lambda field: f"C{field}")
        statements.append(f"hdr.o.f{i} = {conversion}{of_fields};")
        constants.append(f"const bit<{expression.bits}> R{i} = {conversion}{of_constants};")
        statements.append(f"hdr.o.f{i + len(made)} = R{i};")
    return f"""#include <core.p4>
#include <v1model.p4>
{_header("in_t", widths)}
{_header("out_t", outcomes)}
struct headers_t {{ in_t i; out_t o; }}
struct metadata_t {{}}
{chr(10).join(constants)}
parser Parse(packet_in packet, out headers_t hdr, inout metadata_t m,
             inout standard_metadata_t sm) {{
    state start {{ packet.extract(hdr.i); transition accept; }}
}}
control Verify(inout headers_t hdr, inout metadata_t m) {{ apply {{}} }}
control Enter(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t sm) {{
    apply {{
        sm.egress_spec = 1;
        hdr.o.setValid();
        {(chr(10) + "        ").join(statements)}
    }}
}}
control Leave(inout headers_t hdr, inout metadata_t m, inout standard_metadata_t sm) {{
    apply {{}}
}}
control Compute(inout headers_t hdr, inout metadata_t m) {{ apply {{}} }}
control Deparse(packet_out packet, in headers_t hdr) {{ apply {{ packet.emit(hdr.o); }} }}
V1Switch(Parse(), Verify(), Enter(), Leave(), Compute(), Deparse()) main;
"""


def _header(name: str, widths: Sequence[int]) -> str:
    rest = -sum(widths) % 8
    fields = [f"bit<{width}> f{i};" for i, width in enumerate(widths)]
    fields += [f"bit<{rest}> rest;"] if rest else []
    return f"header {name} {{ {' '.join(fields)} }}"


def _octets(values: Iterable[tuple[int, int]]) -> bytes:
    """Values with their widths, one behind another, the last octet filled up with zeros."""
    total, bits = 0, 0
    for width, value in values:
        total = total << width | value
        bits += width
    rest = -bits % 8
    return (total << rest).to_bytes((bits + rest) // 8, "big")
