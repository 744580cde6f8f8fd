"""Local beside random wiring: speed of wide nets, accuracy of small ones."""
