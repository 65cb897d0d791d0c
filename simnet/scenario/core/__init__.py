"""The language of models and scenarios: units, TOML, schema, knobs, provenance."""
