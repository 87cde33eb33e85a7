"""What a build will cost, said before anything is spent: a rehearsal of it, without a call."""
