"""The option for pictures of pages."""

from pathlib import Path

import pytest


def pytest_addoption(parser):
    parser.addoption("--shots", type=Path, default=None, help="folder for pictures of the pages")


@pytest.fixture
def shots(request):
    return request.config.getoption("--shots")
