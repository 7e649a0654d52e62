"""The overview that ``manage.py help`` prints."""

from django.core.management import ManagementUtility, get_commands, load_command_class

OUR_APPS = ("config", "shops", "parcels", "labels")


class ServiceManagementUtility(ManagementUtility):
    """Lists the service's own commands with a line for each, then the names of the others."""

    def main_help_text(self, commands_only: bool = False) -> str:  # noqa: FBT001, FBT002 - Django's signature
        if commands_only or self.settings_exception:
            return super().main_help_text(commands_only)
        commands = get_commands()
        ours = sorted(name for name, app in commands.items() if app in OUR_APPS)
        width = max(map(len, ours), default=0)
        return "\n".join(
            [
                f"Type '{self.prog_name} help COMMAND' for help on a command.",
                "",
                "Commands of the service:",
                *(f"    {name:{width}}  {summary(commands[name], name)}" for name in ours),
                "",
                "Commands of Django and its packages:",
                *(f"    {name}" for name in sorted(commands.keys() - ours)),
            ]
        )


def summary(app: str, name: str) -> str:
    """Return the first sentence of a command's help."""
    return load_command_class(app, name).help.partition(". ")[0].removesuffix(".")
