"""From a question to matched variables, cones, and the passages behind them."""
