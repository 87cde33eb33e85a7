"""What differs between a laptop and a cluster: storage, endpoint, embedder, caches. Only it reads the environment."""
