"""The tables and figures of the studies that papers made, from our results."""
