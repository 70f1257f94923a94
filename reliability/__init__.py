"""What the project promises about reliability, each promise a command that counts."""
