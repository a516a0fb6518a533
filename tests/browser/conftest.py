"""The option for screenshots of pages."""

from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--shots", type=Path, default=None, help="folder for screenshots of the pages")


@pytest.fixture
def shots(request):
    return request.config.getoption("--shots")
