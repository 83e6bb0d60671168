"""The files that a worker can read: Python and its packages, and of the project only the worker's code."""

import os

import pytest

from grader.sandbox import launcher, visible_paths


@pytest.fixture
def site(tmp_path):
    """Make a site-packages folder inside a project folder, with the project installed in several ways."""
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    for folder in ("torch", "grader/worker", "grader/judge", "headway-0.1.0.dist-info"):
        (site / folder).mkdir(parents=True)
    for file in (
        "torch/__init__.py",
        "paths.pth",
        "__editable__.headway.pth",
        "six.py",
        "grader/judge/x.py",
    ):
        (site / file).write_text("")
    return site


@pytest.fixture
def package(tmp_path):
    package = tmp_path / "project" / "grader"
    (package / "worker").mkdir(parents=True)
    return package


def under(path, folders):
    """Return whether a path is one of the folders or in one of them."""
    return any(str(path) == folder or str(path).startswith(folder + "/") for folder in folders)


def visible(path, plan):
    """Return whether a path is visible after all steps of a plan."""
    shown = False
    for act, step in visible_paths.steps(plan):
        if under(path, [step]):
            shown = act == "show"
    return shown


def test_of_a_project_only_packages_and_the_worker_are_shown(site, package):
    plan = visible_paths.plan(str(package), [str(site)])
    for path in (site / "torch", site / "six.py", package / "worker", os.__file__):
        assert visible(path, plan), path
    ours = ("grader", "grader/judge", "headway-0.1.0.dist-info", "paths.pth", "__editable__.headway.pth")
    checkout = (package, package / "judge", package.parent, package.parent / "solutions")
    for path in (*(site / name for name in ours), *checkout):
        assert not visible(path, plan), path


def test_only_the_worker_folder_of_an_installed_grader_is_shown(site):
    plan = visible_paths.plan(str(site / "grader"), [str(site)])
    assert visible(site / "grader" / "worker", plan)
    assert not visible(site / "grader" / "judge", plan)
    assert visible(site / "torch", plan)


@pytest.mark.parametrize(
    ("libraries", "shown", "hidden"),
    [
        # A project in a shown folder is hidden, but not its packages and its worker.
        (
            "",
            ("project/.venv/lib/python3.11/site-packages/torch", "project/grader/worker"),
            "project/solutions",
        ),
        # Package folders of the interpreter that are not on the path are hidden.
        ("system", ("system/lib.so",), "system/python3/dist-packages"),
        # A link is shown under its name and its target.
        ("link", ("link/x", "system/x"), "link/python3/dist-packages"),
    ],
)
def test_of_a_folder_of_libraries_the_rest_is_shown(
    monkeypatch, tmp_path, site, package, libraries, shown, hidden
):
    (tmp_path / "system" / "python3" / "dist-packages").mkdir(parents=True)
    (tmp_path / "link").symlink_to("system")
    monkeypatch.setattr(visible_paths, "_SYSTEM_LIBRARIES", (str(tmp_path / libraries),))
    plan = visible_paths.plan(str(package), [str(site)])
    assert all(visible(tmp_path / path, plan) for path in shown)
    assert not visible(tmp_path / hidden, plan)


def test_readable_entries_contain_no_hidden_path(site, package):
    plan = visible_paths.plan(str(package), [str(site)])
    read, listed = visible_paths.readable_entries(plan)
    assert under(site / "torch", read)
    assert under(package / "worker", read)
    assert str(site) in listed
    for hidden in (site / "grader", site / "paths.pth", package / "judge"):
        assert not under(hidden, read), hidden


def test_a_folder_with_packages_or_torch_is_a_site_folder_the_project_is_not(
    tmp_path, package, monkeypatch, site
):
    (tmp_path / "mine" / "torch").mkdir(parents=True)
    (tmp_path / "mine" / "torch" / "__init__.py").write_text("")
    monkeypatch.setattr(launcher.sys, "path", ["", str(package.parent), str(site), str(tmp_path / "mine")])
    assert launcher.site_folders() == [str(site), str(tmp_path / "mine")]
