"""What becomes of a host: models, a scenario, a report; and the script that collects its files."""
