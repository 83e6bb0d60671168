"""The files that a worker can read: Python and its packages, and of the project only the worker's code."""

from __future__ import annotations

import os

import pytest

from grader.sandbox import visible_paths


@pytest.fixture
def site(tmp_path):
    """Make a site-packages folder inside a project folder, with the project installed in several ways."""
    site = tmp_path / "project" / ".venv" / "lib" / "python3.11" / "site-packages"
    for folder in ("torch", "grader/worker", "grader/judge", "headway-0.1.0.dist-info"):
        (site / folder).mkdir(parents=True)
    for file in (
        "torch/__init__.py",
        "_headway.pth",
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


def test_packages_are_shown_and_the_project_among_them_hidden(site, package):
    plan = visible_paths.plan(str(package), [str(site)])
    assert visible(site / "torch", plan)
    assert visible(site / "six.py", plan)
    hidden = ("grader", "grader/judge", "headway-0.1.0.dist-info", "_headway.pth", "__editable__.headway.pth")
    for name in hidden:
        assert not visible(site / name, plan), name


def test_only_the_worker_folder_of_a_checkout_is_shown(site, package):
    plan = visible_paths.plan(str(package), [str(site)])
    assert visible(package / "worker", plan)
    for path in (package, package / "judge", package.parent, package.parent / "solutions"):
        assert not visible(path, plan), path


def test_only_the_worker_folder_of_an_installed_grader_is_shown(site):
    plan = visible_paths.plan(str(site / "grader"), [str(site)])
    assert visible(site / "grader" / "worker", plan)
    assert not visible(site / "grader" / "judge", plan)
    assert visible(site / "torch", plan)


def test_a_project_in_a_shown_folder_is_hidden_but_not_its_venv(monkeypatch, site, package):
    monkeypatch.setattr(visible_paths, "_SYSTEM_LIBRARIES", (str(package.parents[1]),))
    plan = visible_paths.plan(str(package), [str(site)])
    assert not visible(package.parent / "solutions", plan)
    assert visible(site / "torch", plan)
    assert visible(package / "worker", plan)


def test_other_package_folders_of_the_interpreter_are_hidden(monkeypatch, tmp_path, site, package):
    other = tmp_path / "system" / "python3" / "dist-packages"
    other.mkdir(parents=True)
    monkeypatch.setattr(visible_paths, "_SYSTEM_LIBRARIES", (str(tmp_path / "system"),))
    plan = visible_paths.plan(str(package), [str(site)])
    assert visible(tmp_path / "system" / "lib.so", plan)
    assert not visible(other, plan)


def test_a_link_is_shown_under_its_name_and_its_target(monkeypatch, tmp_path, site, package):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    monkeypatch.setattr(visible_paths, "_SYSTEM_LIBRARIES", (str(tmp_path / "link"),))
    plan = visible_paths.plan(str(package), [str(site)])
    assert visible(tmp_path / "link" / "x", plan)
    assert visible(tmp_path / "real" / "x", plan)


def test_readable_entries_contain_no_hidden_path(site, package):
    plan = visible_paths.plan(str(package), [str(site)])
    read, listed = visible_paths.readable_entries(plan)
    assert under(site / "torch", read)
    assert under(package / "worker", read)
    assert str(site) in listed
    for hidden in (site / "grader", site / "_headway.pth", package / "judge"):
        assert not under(hidden, read), hidden


def test_the_standard_library_is_visible(package, site):
    assert visible(os.__file__, visible_paths.plan(str(package), [str(site)]))


def test_the_project_folder_is_not_a_site_folder(package, monkeypatch, site):
    monkeypatch.setattr(visible_paths.sys, "path", ["", str(package.parent), str(site)])
    assert visible_paths.site_folders() == [str(site)]


def test_a_folder_with_torch_is_a_site_folder_by_any_name(tmp_path, monkeypatch):
    (tmp_path / "mine" / "torch").mkdir(parents=True)
    (tmp_path / "mine" / "torch" / "__init__.py").write_text("")
    monkeypatch.setattr(visible_paths.sys, "path", [str(tmp_path / "mine")])
    assert visible_paths.site_folders() == [str(tmp_path / "mine")]
