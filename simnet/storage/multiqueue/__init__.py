"""The block layer with several queues, blk-mq: software and hardware queues, tags, schedulers."""
