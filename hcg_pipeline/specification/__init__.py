"""From proposals to a closed vocabulary, variables and seed relations."""
