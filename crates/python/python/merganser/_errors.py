"""The exceptions of the package."""

from __future__ import annotations


class Error(Exception):
    """Something went wrong. The message is one line that says what, where, and what to do.

    Attributes:
        file: The file at fault, if it is known.
        record: The number of the record in it, from 1, if it is known.
    """

    def __init__(self, message: str, file: str | None = None, record: int | None = None) -> None:
        super().__init__(message)
        self.file = file
        self.record = record

    def __reduce__(self) -> tuple[type[Error], tuple[str, str | None, int | None]]:
        return (type(self), (str(self), self.file, self.record))


class ConfigError(Error, ValueError):
    """What was asked is out of range, or does not go together."""


class InputError(Error, OSError):
    """An input, an output, or the machine is at fault: a damaged file, a full disk, too little memory."""

    def __init__(self, message: str, file: str | None = None, record: int | None = None) -> None:
        Error.__init__(self, message, file, record)
