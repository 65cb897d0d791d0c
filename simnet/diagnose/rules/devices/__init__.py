"""What the words of devices mean: optics, drives, RDMA, bonds, switches."""
