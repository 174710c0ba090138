"""Fixtures that tests share. This file also puts `tests/` on the path, so that every test can import its slow twin."""

import os
import shutil
import signal

import pytest
from hypothesis import settings

import public_sets
from treille import io

# How long an example takes depends on what else the machine does.
settings.register_profile("without deadline", deadline=None)
settings.load_profile("without deadline")

if "TREILLE_DATA" in os.environ:  # tests change the current folder
    os.environ["TREILLE_DATA"] = os.path.abspath(os.environ["TREILLE_DATA"])


def pytest_configure():
    """Ctrl-C works in the tests and in their child processes, also where SIGINT is ignored, as under `nohup` or after `&`."""
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.get_closest_marker("slow"):
            item.add_marker(pytest.mark.timeout(0))


@pytest.fixture(scope="module")  # not for the session: while it is open, other tests cannot run event loops
def browser():
    """A headless Chromium, from the system or from playwright."""
    api = pytest.importorskip("playwright.sync_api", reason="needs playwright, which the extra [test] installs")
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
    program = next(filter(None, map(shutil.which, names)), None)
    with api.sync_playwright() as playwright:
        try:
            found = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        except api.Error as error:
            pytest.skip(f"there is no Chromium: run 'playwright install chromium' ({str(error).splitlines()[0]})")
        yield found
        found.close()


@pytest.fixture(scope="session")
def stories():
    """3,000 Reuters stories and whether each is about acquisitions."""
    if public_sets.data_folder() is None:
        pytest.skip("needs public data: set TREILLE_DATA to its folder")
    try:
        texts, topics = public_sets.reuters("train")
    except io.InputError as error:
        pytest.skip(str(error))
    return texts[:3000], ["acq" in topic for topic in topics[:3000]]
