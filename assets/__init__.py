"""Dagster assets: read inputs, call the engine, attach what a person wants to see. No method lives here."""
