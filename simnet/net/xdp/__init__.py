"""Programs of BPF that see a packet before an `sk_buff` is made of it."""
