package lookup

// nearRows has a kernel of the first rank, see package dense.
var nearRows = [2]nearKernel{nearRowsWide}
