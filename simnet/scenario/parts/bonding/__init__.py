"""Bonds."""
