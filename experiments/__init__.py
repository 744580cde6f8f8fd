"""The experiments of "Deep Differentiable Logic Gate Networks", reproduced and taken further.

settings (what the paper says) -> plans (how to train) -> training -> measuring -> report (records, table, figures)
"""
