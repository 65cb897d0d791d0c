"""A real host's files, and what becomes of them: models and a scenario."""
