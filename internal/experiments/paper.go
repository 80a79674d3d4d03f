package experiments

import "slices"

// paperSphere are the mean squared errors in the table of section VII of Zhai and Li, one
// for each of sphereSigmas.
var paperSphere = []struct {
	method string
	errors [7]float64
}{
	{"quadratic, lp, p = 1", [7]float64{.009, .014, .020, .030, .070, .083, .126}},
	{"quadratic, lp, p = 1.25", [7]float64{.002, .006, .016, .023, .061, .100, .139}},
	{"quadratic, lp, p = 1.5", [7]float64{.002, .006, .017, .025, .064, .144, .232}},
	{"quadratic, lp, p = 1.75", [7]float64{.001, .005, .016, .022, .067, .132, .216}},
	{"quadratic, lp, p = 2", [7]float64{.001, .005, .016, .021, .071, .137, .204}},
	{"quadratic, l2", [7]float64{.002, .006, .015, .020, .053, .099, .140}},
	{"linear, lp, p = 1", [7]float64{.016, .021, .023, .033, .072, .087, .129}},
	{"linear, lp, p = 1.25", [7]float64{.016, .020, .022, .035, .074, .085, .140}},
	{"linear, lp, p = 1.5", [7]float64{.014, .017, .021, .027, .061, .082, .133}},
	{"linear, lp, p = 1.75", [7]float64{.013, .015, .021, .025, .056, .084, .125}},
	{"linear, lp, p = 2", [7]float64{.013, .015, .021, .024, .055, .087, .126}},
	{"linear, l2", [7]float64{.013, .014, .021, .026, .057, .090, .132}},
	{"sph", [7]float64{.002, .018, .044, .084, .180, .262, .317}},
	{"mfit", [7]float64{.018, .022, .038, .028, .061, .113, .140}},
	{"mls", [7]float64{.001, .005, .014, .016, .053, .085, .122}},
}

// paperRows returns the paper's rows in the unit of our table. Cells of noise levels that
// the paper lacks are empty; if it lacks all levels, there are no rows.
func paperRows(sigmas []float64) []Row {
	var rows []Row
	for _, line := range paperSphere {
		row, found := Row{Keys: []string{"paper: " + line.method}}, false
		for _, sigma := range sigmas {
			cell := Mean{}
			if k := slices.Index(sphereSigmas, sigma); k >= 0 {
				cell, found = Mean{Value: 1e4 * line.errors[k], N: 1, Exact: true}, true
			}
			row.Values = append(row.Values, cell)
		}
		if found {
			rows = append(rows, row)
		}
	}
	return rows
}
