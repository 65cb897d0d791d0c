"""Predicted against measured."""
