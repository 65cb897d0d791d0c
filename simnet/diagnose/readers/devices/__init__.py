"""What devices say of themselves: optics, drives, adapters of RDMA, bonds, switches."""
