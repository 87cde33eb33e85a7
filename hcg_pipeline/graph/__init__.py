"""The two tiers, evidence links, and the published snapshot."""
