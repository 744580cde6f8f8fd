"""The commands of `gatewise`, a module each, which is imported only if the command is called."""
