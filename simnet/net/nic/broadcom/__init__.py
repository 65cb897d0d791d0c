"""Ports of Broadcom's chips for home routers."""
