"""The commands: one thin file each, heavy imports inside the command."""
