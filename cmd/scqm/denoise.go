package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
	"github.com/scqm/scqm/cmd/scqm/internal/options"
	"github.com/scqm/scqm/internal/dataset"
	"github.com/scqm/scqm/models/denoise"
	"github.com/scqm/scqm/models/denoise/classic"
	"github.com/scqm/scqm/models/scqm"
)

const denoiseLong = `Move every row of DATA onto the surface of dimension d near which the rows
scatter, found from its nearest neighbours.

DATA is a file as for fit, or a point cloud ending in .ply, .xyz, .pcd or .las,
with or without .gz. If what -o names is a point cloud of the same format,
everything but the coordinates and normals goes through unchanged.

Rows without a surface, or whose point of it would be far outside of their
neighbours, are left as they are; --report flags them. It adds the columns
residual (distance moved), noise (standard deviation of the neighbours' noise),
neighbors, ridge, extrapolated, unchanged, error (standard error in each direction
away from the surface) and outlier_score (distance from the surface in standard
deviations of the noise).

--normals adds nx, ny, nz (where d = D-1; n1, n2, ... where D is not 3),
--curvature the columns curvature (mean of the principal curvatures, in one over
the unit of the rows) and, where d = D-1, curvature_1, ... (principal curvatures,
the largest first). Normals that a point cloud brings are computed anew for the
output of the same format, on the side that they had.`

const denoiseExample = `  scqm denoise scan.ply -o clean.ply
  scqm denoise data.npy -d 1 --method scqm --loss l2 --neighbors 20 -o clean.npy
  scqm denoise data.csv --queries new.csv --report -o clean.csv`

const (
	methodAuto = "auto"
	methodPCA  = "pca"
	lossTukey  = "tukey"
	choiceAuto = "auto"
	axesAll    = "all" // keeps the columns
	widthLocal = "local"
	maxDegree  = 2
)

// denoiseFlags are the flags of scqm denoise.
type denoiseFlags struct {
	data    options.Data
	loss    options.Loss
	method  string
	latent  int // number of latent coordinates, once it is known
	queries string
	weights string
	output  string

	dimension, neighbors, width string
	axes                        string
	ridge, share                float64
	passes, average             int
	degree, threads             int
	flat                        bool

	geometry geometryFlags

	report, json bool
	progress     options.Progress
}

func denoiseCommand() *cobra.Command {
	f := denoiseFlags{dimension: "2", method: methodAuto, output: "-"}
	cmd := &cobra.Command{
		Use:     "denoise DATA",
		Short:   "Move rows onto the surface near which they scatter",
		Long:    denoiseLong,
		Example: denoiseExample,
		Args:    cli.Arguments("DATA"),
		RunE:    func(cmd *cobra.Command, args []string) error { return f.run(cmd, args[0]) },
	}
	flags := cmd.Flags()
	flags.SortFlags = false
	flags.VarP(cli.Name(&f.output, "FILE"), "output", "o", "file to write, ending in .npy, .npz, .csv, .tsv, .ply, .xyz, .pcd or .las, the last four perhaps with .gz; - is CSV on standard output")
	flags.VarP(cli.CountOr(&f.dimension, choiceAuto), "latent", "d", "dimension of the surface; auto: that of the least estimated risk, from 1 to 4 (default 2)")
	flags.Var(cli.OneOf(&f.method, "NAME", methodNames()...), "method", "method; scqm methods lists them")
	flags.Var(cli.CountOr(&f.neighbors, choiceAuto), "neighbors", "neighbours to look at; auto: the number of least estimated risk (default auto for the methods auto and apss, else 30)")
	flags.Var(cli.Name(&f.queries, "FILE"), "queries", "rows to denoise by those of DATA, instead of these themselves")
	flags.Var(cli.Name(&f.weights, "FILE"), "weights", "file with one column, the weight of each row of DATA")
	f.loss.AddTo(cmd)
	flags.Lookup("loss").Usage = "loss of a residual, by `NAME`, for the methods scqm and linear (default l2) and auto (default tukey, or squared_l2)"
	flags.Lookup("loss").DefValue = ""
	flags.Var(cli.NonNegative(&f.ridge), "ridge", "penalty on curvature, for scqm and sqmf (default 10) and qmf (default 0.01)")
	flags.Var(cli.Count(&f.passes), "passes", "end the fits of scqm, sqmf and linear after so many passes of the alternating solver")
	flags.Var(cli.Count(&f.degree), "degree", "degree of the polynomial of mls, 1 or 2 (default 2)")
	flags.BoolVar(&f.flat, "flat-weights", false, "give all neighbours the same weight, for mls")
	flags.Var(cli.PositiveOr(&f.width, widthLocal), "width", "kernel width for kde and logkde; local is the distance of the furthest neighbour (default by Silverman's rule)")
	flags.Var(cli.Count(&f.average), "average", "average over the charts of this many neighbours: better, and as many times slower")
	flags.Var(cli.Positive(&f.share), "share", "let a chart serve all rows within this part of the size of its neighbourhood: faster, less exact; the summary says how much")
	options.AddThreadsTo(flags, &f.threads)
	flags.Var(cli.CountOr(&f.axes, choiceAuto, axesAll), "axes", "principal axes of wide rows to denoise along; auto: those that are more than noise, where that is at most four for five of ten columns or more; all: the columns themselves (default auto)")
	f.data.AddTo(cmd)
	flags.BoolVar(&f.report, "report", false, "write columns about each row beside it")
	f.geometry.addTo(flags)
	f.progress.AddTo(cmd)
	flags.BoolVar(&f.json, "json", false, "print a summary as one JSON object")
	return cmd
}

func methodNames() []string {
	var names []string
	for _, d := range denoise.Describe() {
		names = append(names, d.Name)
	}
	return names
}

// principalAxes returns the value of --axes as the library expects it.
func (f *denoiseFlags) principalAxes() int {
	if f.axes == axesAll {
		return denoise.AllColumns
	}
	n, _ := strconv.Atoi(f.axes)
	return n
}

// table holds rows and, if they were read from a point cloud, that point cloud.
type table struct {
	*dataset.Matrix
	cloud *dataset.PointCloud
}

// data returns the rows. Rows that were read from a file may have missing entries.
func (t table) data() scqm.Data {
	x := cli.RowsOf(t.Matrix)
	x.Missing = true
	return x
}

func (f *denoiseFlags) run(cmd *cobra.Command, path string) error {
	settings, err := f.check(cmd, path)
	defer f.loss.Close()
	if err != nil {
		return err
	}
	return f.work(cmd, path, settings)
}

// work reads the rows of the file path, denoises them and writes the result.
func (f *denoiseFlags) work(cmd *cobra.Command, path string, settings denoise.Settings) error {
	x, err := f.read(cmd, path)
	if err != nil {
		return err
	}
	rows := x.data()
	if err := f.addWeights(cmd, &rows); err != nil {
		return err
	}
	y := x
	if f.queries != "" {
		if y, err = f.read(cmd, f.queries); err != nil {
			return err
		}
		if y.Cols != x.Cols {
			return cli.Usagef("%s: rows of %d columns do not fit %s, which has %d", f.queries, y.Cols, path, x.Cols)
		}
	}
	method, err := denoise.ByName(f.method, settings)
	if err != nil {
		return err
	}
	if f.output != "-" && dataset.IsPointCloud(f.output) && y.Cols != 3 {
		return cli.Usagef("-o %s: a point cloud has three columns, these rows have %d; write .npy or .csv", f.output, y.Cols)
	}
	began := time.Now()
	denoiser, result, err := f.denoise(cmd, method, rows, y)
	if err != nil {
		return err
	}
	f.latent = denoiser.Latent()
	surface, err := f.describe(cmd, denoiser, y, result)
	if err != nil {
		return err
	}
	var header []string // point clouds have names of their own
	if x.cloud == nil {
		header = x.Names
	}
	summary := newDenoiseSummary(denoiser, f, x.Matrix, header, result, time.Since(began))
	if summary.Dropped, err = f.write(cmd, y, result, surface); err != nil {
		return err
	}
	return summary.print(cmd, f)
}

// check validates the flags before any file is read, and returns the settings of the method.
func (f *denoiseFlags) check(cmd *cobra.Command, path string) (denoise.Settings, error) {
	if f.latent, _ = strconv.Atoi(f.dimension); f.dimension == choiceAuto {
		f.latent = denoise.ChooseLatent
	}
	s := denoise.Settings{Latent: f.latent, Passes: f.passes, Degree: f.degree, Flat: f.flat}
	if err := f.checkPlaces(cmd, path); err != nil {
		return s, err
	}
	if err := f.checkSettings(cmd); err != nil {
		return s, err
	}
	switch f.neighbors {
	case "":
	case choiceAuto:
		s.Neighbors = denoise.ChooseNeighbors
	default:
		s.Neighbors, _ = strconv.Atoi(f.neighbors)
	}
	if f.width == widthLocal {
		s.Local = true
	} else if f.width != "" {
		s.Width, _ = strconv.ParseFloat(f.width, 64)
	}
	if cmd.Flags().Changed("ridge") {
		if s.Ridge = f.ridge; f.ridge == 0 {
			s.Ridge = classic.NoRidge
		}
	}
	return s, f.chooseLoss(cmd, &s)
}

func (f *denoiseFlags) checkPlaces(cmd *cobra.Command, path string) error {
	if err := dataset.CheckTableOrCloud(f.output); err != nil {
		return fmt.Errorf("-o: %w", err)
	}
	outputs, others := []cli.Named{{Flag: "-o", Path: f.output}}, []string{path, f.queries, f.weights}
	if err := cli.Distinct(outputs, others, f.data.Inputs(), f.loss.Inputs()); err != nil {
		return err
	}
	if f.json && f.output == "-" {
		return cli.Usagef("--json: the rows go to standard output already; name a file with -o")
	}
	if dataset.IsPointCloud(path) || dataset.IsPointCloud(f.queries) {
		if err := cli.Refuse(cmd, "with a point cloud", "columns", "header", "scale", "labels", "keep", "first", "drop-missing"); err != nil {
			return err
		}
	}
	return f.data.Check(cmd)
}

// settingFlags are the flags of the settings that methods differ in.
var settingFlags = map[string]string{
	"loss": "Loss", "p": "Loss", "delta": "Loss", "precision": "Loss", "ridge": "Ridge", "passes": "Passes",
	"plugin": "Loss", "loss-param": "Loss", "plugin-sha256": "Loss", "plugin-timeout": "Loss", "degree": "Degree", "flat-weights": "Flat", "width": "Width",
}

func (f *denoiseFlags) checkSettings(cmd *cobra.Command) error {
	if f.method == methodPCA {
		if err := cli.Refuse(cmd, "with the method pca", "latent", "neighbors", "average", "share"); err != nil {
			return err
		}
	}
	if f.neighbors == choiceAuto && (f.method == "kde" || f.method == "logkde") && f.width != widthLocal {
		return cli.Usagef("--neighbors auto: kernels of fixed width have no neighbours to choose; add --width local, or leave it out")
	}
	if cmd.Flags().Changed("share") && (f.average > 1 || f.share > 1) {
		return cli.Usagef("--share: want a part of at most 1, and not beside --average")
	}
	if f.degree > maxDegree {
		return cli.Usagef("--degree %d: want 1 or 2", f.degree)
	}
	for _, d := range denoise.Describe() {
		if d.Name != f.method {
			continue
		}
		for flag, setting := range settingFlags {
			if !slices.Contains(d.Settings, setting) {
				if err := cli.Refuse(cmd, "with the method "+f.method, flag); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (f *denoiseFlags) addWeights(cmd *cobra.Command, x *scqm.Data) error {
	if f.weights == "" {
		return nil
	}
	m, err := cli.Await(cmd.Context(), func() (*dataset.Matrix, error) {
		return dataset.Read(f.weights, dataset.ReadOptions{})
	})
	if err != nil {
		return fmt.Errorf("--weights: %w", err)
	}
	if m.Cols != 1 || m.Rows != x.N {
		return cli.Usagef("--weights: %s is %d x %d, want one column with a weight for each of %d rows", f.weights, m.Rows, m.Cols, x.N)
	}
	x.Weights = m.Data
	return nil
}

func (f *denoiseFlags) read(cmd *cobra.Command, path string) (table, error) {
	if err := dataset.CheckKnown(path); err != nil {
		return table{}, err
	}
	if !dataset.IsPointCloud(path) {
		m, err := f.data.Read(cmd, path)
		return table{Matrix: m}, err
	}
	c, err := cli.Await(cmd.Context(), func() (*dataset.PointCloud, error) { return dataset.ReadPointCloud(path, f.data.Missing) })
	if err != nil {
		return table{}, err
	}
	return table{c.Points, c}, nil
}

// denoise fits the method m to x and denoises y. It shows a progress bar if the output is a terminal.
func (f *denoiseFlags) denoise(cmd *cobra.Command, m denoise.Method, x scqm.Data, y table) (*denoise.Denoiser, *denoise.Result, error) {
	fitting, denoising, end := f.watch(cmd, x.N)
	defer end()
	o := denoise.Options{Threads: f.threads, Average: f.average, Share: f.share, Axes: f.principalAxes(), Progress: fitting}
	d, err := denoise.Fit(cmd.Context(), m, x, o)
	if err != nil {
		return nil, nil, err
	}
	o.Progress, o.Surface = denoising, f.describes(y)
	r, err := d.Denoise(cmd.Context(), y.data(), o)
	return d, r, err
}

// choosesNeighbors reports whether the number of neighbours is to be chosen from the rows.
func (f *denoiseFlags) choosesNeighbors() bool {
	return f.neighbors == choiceAuto || f.neighbors == "" && denoise.ChoosesNeighbors(f.method)
}

// watch returns callbacks that report the progress of fitting and of denoising. If neighbours are chosen,
// fitting takes most of the time, unless each cell is fitted when its rows are denoised.
func (f *denoiseFlags) watch(cmd *cobra.Command, n int) (fitting, denoising func(float64), end func()) {
	show, end := f.progress.Part(cmd)
	if show == nil {
		return nil, nil, end
	}
	split := 0.0
	if f.choosesNeighbors() && n <= 4*denoise.CellRows {
		split = 0.9
	}
	fitting = func(part float64) { show(split * part) }
	denoising = func(part float64) { show(split + (1-split)*part) }
	return fitting, denoising, end
}

// write writes the rows with the columns that the flags ask for. It omits the rows to
// be dropped and returns their number.
func (f *denoiseFlags) write(cmd *cobra.Command, y table, r *denoise.Result, s *surface) (dropped int, err error) {
	points := &dataset.Matrix{Rows: y.Rows, Cols: y.Cols, Data: r.X, Names: y.Names}
	more, err := f.columns(y, r, s)
	if err != nil {
		return 0, err
	}
	if kept := f.geometry.kept(r, s); len(kept) < y.Rows {
		if dropped = y.Rows - len(kept); len(kept) == 0 {
			return 0, cli.Usagef("--drop-outliers: all %d rows have an outlier score above the limit; raise it", y.Rows)
		}
		points = points.Only(kept)
		if more != nil {
			more = more.Only(kept)
		}
		if y.cloud != nil && y.cloud.SameFormat(f.output) {
			if y.cloud, err = y.cloud.Only(kept); err != nil {
				return 0, fmt.Errorf("--drop-outliers: %w", err)
			}
		}
	}
	if f.output != "-" && dataset.IsPointCloud(f.output) {
		return dropped, cli.Save(cmd.Context(), f.output, func() error { return dataset.WritePointCloud(f.output, y.cloud, points, more) })
	}
	all, err := cli.Beside(points, more)
	if err != nil {
		return 0, err
	}
	return dropped, cli.WriteMatrix(cmd, f.output, all)
}
