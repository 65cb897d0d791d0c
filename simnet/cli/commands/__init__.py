"""The commands: module `NAME` has the function `NAME_command`. They are found by name."""
