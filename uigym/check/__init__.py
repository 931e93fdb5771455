"""Is a harness sound? What its author proves before any training: see `check_harness`."""
