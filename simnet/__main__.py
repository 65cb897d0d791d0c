"""``python -m simnet``: the command, with this interpreter."""

from __future__ import annotations

from simnet.cli import main

if __name__ == "__main__":
    main()
