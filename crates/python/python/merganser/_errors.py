"""The exceptions of the package."""

from __future__ import annotations


class Error(Exception):
    """The base class. The message is one line: what is wrong, where, and what to do.

    Attributes:
        file: The file with the problem, if it is known.
        record: The number of the record in the file, from 1, if it is known.
    """

    def __init__(self, message: str, file: str | None = None, record: int | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.record = record

    def __reduce__(self) -> tuple[type[Error], tuple[str, str | None, int | None]]:
        return (type(self), (str(self), self.file, self.record))


class ConfigError(Error, ValueError):
    """An argument is out of range, or arguments cannot be used together."""


class InputError(Error, OSError):
    """A problem with an input, an output or the machine: a damaged file, a full disk, too little memory."""

    def __init__(self, message: str, file: str | None = None, record: int | None = None) -> None:
        Error.__init__(self, message, file, record)
