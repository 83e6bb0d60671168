"""Start workers and confine them."""
