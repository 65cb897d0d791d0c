"""Packets that are for nobody on this host: filtered, routed, and sent by another port."""
