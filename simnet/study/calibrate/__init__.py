"""Parameters of models fitted to measurements."""
