"""How good the evidence and the answers are."""
