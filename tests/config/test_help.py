"""`manage.py help`: the service's own commands come first, each with a line."""

import re

import pytest
from django.core.management import get_commands, load_command_class

from config.management.help import ServiceManagementUtility
from shops.management.base import Command


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    ServiceManagementUtility(["manage.py", *arguments]).execute()
    return capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["help"], ["--help"]])
def test_each_command_of_ours_has_a_line_and_the_others_follow(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    ours, others = printed(capsys, *arguments).split("Commands of Django and its packages:\n")
    described = dict(re.findall(r"^    (\w+) +(\S.*)$", ours, re.MULTILINE))
    commands = {name: load_command_class(app, name) for name, app in get_commands().items()}
    assert set(described) == {name for name, command in commands.items() if isinstance(command, Command)}
    assert set(others.split()) == set(commands) - set(described)
    assert described["create_shop"] == "Create a shop and print its id"
    assert described["create_token"] == "Create an access token of a shop and print it"
    for name, text in described.items():
        assert commands[name].help.startswith(text)


def test_the_help_of_a_command_and_the_list_of_names_are_djangos(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, "help", "--commands").split() == sorted(get_commands())
    assert printed(capsys, "help", "create_shop").startswith("usage: manage.py create_shop")
