// Gives the module a row of vectors.txt each clock cycle, and prints PASS or FAIL.
module model_tb;
`include "sizes.vh"
  reg [LAST_INPUT:0] inputs [0:N_ROWS - 1];
  reg [LAST_OUTPUT:0] outputs [0:N_ROWS - 1];
  reg [LAST_INPUT:0] given;
  reg [LAST_OUTPUT:0] expected;
  wire [LAST_OUTPUT:0] found;
  reg clk, value;
  reg [64 * 8:1] name;
  integer file, n_read, n_rows, n_columns, i, j, errors;

`include "module.vh"

  initial begin
    file = $fopen("vectors.txt", "r");
    n_read = $fscanf(file, "%s %d %d", name, n_rows, n_columns);
    for (i = 0; i < N_ROWS; i = i + 1)
      for (j = 0; j < N_INPUTS; j = j + 1) begin
        n_read = $fscanf(file, "%b", value);
        inputs[i][j] = value;
      end
    n_read = $fscanf(file, "%s %d %d", name, n_rows, n_columns);
    for (i = 0; i < N_ROWS; i = i + 1)
      for (j = 0; j < N_OUTPUTS; j = j + 1) begin
        n_read = $fscanf(file, "%b", value);
        outputs[i][j] = value;
      end
    clk = 0;
    errors = 0;
    for (i = 0; i < N_ROWS + DELAY; i = i + 1) begin
      given = inputs[i < N_ROWS ? i : N_ROWS - 1];
      #1 clk = 1;
      #1 clk = 0;
      expected = outputs[i < DELAY ? 0 : i - DELAY];
      if (i >= DELAY && N_OUTPUTS > 0 && found !== expected) begin
        errors = errors + 1;
        $display("row %0d: expected %b, got %b", i - DELAY, expected, found);
      end
    end
    if (n_read < 1) $display("FAIL: vectors.txt cannot be read");
    else if (errors == 0) $display("PASS: %0d rows", N_ROWS);
    else $display("FAIL: %0d of %0d rows", errors, N_ROWS);
    $finish;
  end
endmodule
