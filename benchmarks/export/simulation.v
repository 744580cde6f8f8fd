// Gives the rows of rows.txt to a combinational module, one after the other, and prints what comes out.
// The words in capitals are macros: iverilog -DTOP=circuit -DINPUT=bits -DOUTPUT=counts -DN_IN=784 -DN_OUT=70 -DN_ROWS=64
module simulation;
  reg [`N_IN-1:0] given;
  wire [`N_OUT-1:0] out;
  integer file, i, n_read;
  `TOP dut (.`INPUT(given), .`OUTPUT(out));
  initial begin
    file = $fopen("rows.txt", "r");
    for (i = 0; i < `N_ROWS; i = i + 1) begin
      n_read = $fscanf(file, "%b", given);
      #1 $display("%b", out);
    end
  end
endmodule
