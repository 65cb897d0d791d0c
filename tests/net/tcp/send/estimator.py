"""`tcp_rtt_estimator` of Linux, written out."""


class KernelEstimator:
    """The fields of `struct tcp_sock` that it writes; times in one unit, timeouts in jiffies."""

    def __init__(self, *, least: int, jiffy: int = 1) -> None:
        self.least, self.jiffy = least, jiffy
        self.srtt = self.mdev = self.mdev_max = self.rttvar = self.rtt_seq = 0

    def sample(self, m: int, snd_una: int, snd_nxt: int) -> int:
        """A round trip of 1 or more has been measured; return the timeout."""
        if self.srtt:
            m -= self.srtt >> 3
            self.srtt += m
            if m < 0:
                m = -m - (self.mdev >> 2)
                if m > 0:
                    m >>= 3
            else:
                m -= self.mdev >> 2
            self.mdev += m
            self.mdev_max = max(self.mdev_max, self.mdev)
            self.rttvar = max(self.rttvar, self.mdev_max)
            if snd_una > self.rtt_seq:
                if self.mdev_max < self.rttvar:
                    self.rttvar -= (self.rttvar - self.mdev_max) >> 2
                self.rtt_seq = snd_nxt
                self.mdev_max = self.least
        else:
            self.srtt, self.mdev = m << 3, m << 1
            self.rttvar = self.mdev_max = max(self.mdev, self.least)
            self.rtt_seq = snd_nxt
        self.srtt = max(self.srtt, 1)
        return min(-(-((self.srtt >> 3) + self.rttvar) // self.jiffy), 30_000)
