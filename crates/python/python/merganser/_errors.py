"""The exceptions and warnings of the package."""

from __future__ import annotations

import errno
import os


class Error(Exception):
    """The base class. The message is one line: what is wrong, where, and what to do.

    Attributes:
        argument: The name of the argument at fault, if there is one.
        file: The file with the problem, if it is known.
        record: The number of the record in the file, from 1, if it is known.
    """

    def __init__(
        self,
        message: str,
        *,
        argument: str | None = None,
        file: str | None = None,
        record: int | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.argument = argument
        self.file = file
        self.record = record

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[type[Error], tuple[str], dict[str, object]]:
        return (type(self), (self.message,), dict(self.__dict__))


class ArgumentError(Error, ValueError):
    """An argument is out of range, or arguments cannot be used together."""


class InputError(Error, ValueError):
    """An input cannot be read, or its content is malformed or of another kind."""


def _number(message: str, default: int) -> int:
    """Returns the number of the system's error that a message describes."""
    if "does not exist" in message:
        return errno.ENOENT
    found = [number for number in errno.errorcode if os.strerror(number).lower() in message.lower()]
    return max(found, key=lambda number: len(os.strerror(number)), default=default)


class _SystemError(Error, OSError):
    """An error of the system about a file.

    Attributes:
        errno: The number of the error.
        strerror: Its text.
        filename: The file, as `file`.
    """

    def __init__(
        self,
        message: str,
        *,
        argument: str | None = None,
        file: str | None = None,
        record: int | None = None,
    ) -> None:
        super().__init__(message, argument=argument, file=file, record=record)
        default = errno.ENOENT if isinstance(self, FileNotFoundError) else errno.EIO
        self.errno = _number(message, default)
        self.strerror = os.strerror(self.errno)
        self.filename = file

    def __reduce__(self) -> tuple[type[Error], tuple[str], dict[str, object]]:
        names = ("errno", "strerror", "filename")
        return (type(self), (self.message,), self.__dict__ | {name: getattr(self, name) for name in names})


class FileNotFound(_SystemError, FileNotFoundError):
    """An input does not exist. As all `OSError`, it has `errno`, `strerror` and `filename`."""


class OutputError(_SystemError):
    """An output or a temporary file cannot be written: a full disk, a missing folder, no permission.

    As all `OSError`, it has `errno`, `strerror` and `filename`.
    """


class MemoryLimitError(Error, MemoryError):
    """The job needs more memory than `memory` allows, or than the machine or the GPU has."""


class DeviceError(Error, RuntimeError):
    """A GPU cannot be used, or has failed."""


class InternalError(Error, RuntimeError):
    """An error of the package itself. Please report it."""


class ResultWarning(UserWarning):
    """A reason to doubt a result, or an input that was taken differently than expected."""
