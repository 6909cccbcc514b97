"""``python -m eval.report DB``: what a ledger's games say, as one page that can be passed on."""
