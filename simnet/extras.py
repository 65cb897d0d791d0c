"""Libraries that few need, which an install brings only if asked: `pyproject.toml` names them."""

from importlib.util import find_spec
from typing import Final

from simnet.errors import InputError

_NAMES: Final = {"distributed": "Dask", "optuna": "Optuna", "pyarrow": "PyArrow"}


def require(library: str, *, asked_by: str, key: str | None = None) -> None:
    """Raise InputError, with what installs it, where a library is missing.

    Args:
        library: the library by the name that it is imported and installed by.
        asked_by: the command or the option that needs it.
        key: what was given to the option.
    """
    if find_spec(library) is None:
        message = f"needs {_NAMES[library]}: python -m pip install {library}"
        raise InputError(message, file=asked_by, key=key)
