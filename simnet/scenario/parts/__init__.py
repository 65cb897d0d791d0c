"""What a scenario can consist of, one folder a subject."""
