"""Many small networks trained as one: the same runs as one after the other, sooner."""
