"""Exports: C beside compiled trees, WebAssembly in node, Verilog beside torchlogix's."""
