"""How a class says what its compiled form is told beyond Python's own annotations.

A class marked `@cython.cclass` declares each field once, on a line of its own: name, type, and what
it begins with. Machine code keeps it in the object itself. Python code may read it, and a field
marked `Public` may be assigned from there, too. What the build makes of these lines is in
`simnet/_build/rooms.py`.
"""

from collections.abc import Callable, MutableSequence, Sequence
from typing import Annotated, Any, TypeAlias, TypeVar

_T = TypeVar("_T")
_Function = TypeVar("_Function", bound=Callable[..., Any])

Public: TypeAlias = Annotated[_T, "Python code may assign it"]
"""A field that Python code may assign, as what builds a system does."""

Array: TypeAlias = MutableSequence[_T]
"""An array of C numbers, whatever holds it: seen through a contiguous memory view."""

ConstArray: TypeAlias = Sequence[_T]
"""An array that is only read."""

Pointer: TypeAlias = MutableSequence[_T]
"""The address of C numbers that the object owns itself; Python code never sees it."""

Address: TypeAlias = Any
"""The address of an object or a number, where a C function takes any."""


def native(function: _Function) -> _Function:
    """Mark a function that compiled code takes from the C header beside its module.

    The header has the module's name and declares the function as a `static inline` one. What stands
    here is what the interpreted engine calls.
    """
    return function
