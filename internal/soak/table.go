package main

import "github.com/scqm/scqm/internal/drill"

// programDrills returns the drills that run the program as users do.
func programDrills() []drillSpec {
	return []drillSpec{
		{name: "files", what: "damaged files of every format, read by every command", cases: 6000, try: tryFile},
		{name: "kills", what: "SIGKILL, SIGINT, SIGTERM, SIGSTOP at random moments of commands that write", cases: 300, try: tryKill},
		{name: "disks", what: "small and full disks", cases: 300, try: tryDisk},
		{name: "outlets", what: "standard output closed or full", cases: 200, try: tryOutlet},
		{name: "memory", what: "limits on memory, ulimit -v and -d", cases: 200, try: tryMemory},
		{name: "strangers", what: "models that name plugins, with a payload beside them", cases: 300, try: tryStranger},
		{name: "python-files", what: "damaged models, loaded in Python", cases: 2000, prepare: needPython, try: pythonCases("files", 100)},
		{name: "python-kills", what: "SIGINT at random moments of fits, and SIGKILL of saves, in Python", cases: 60, prepare: needPython, try: tryPythonKill},
		{name: "python-memory", what: "limits on memory in Python: MemoryError, and the interpreter lives", cases: 60, prepare: needPython, try: pythonCases("memory", 1)},
		{name: "python-tables", what: "default fits of real tables: nothing converged that influence refuses", cases: 256, prepare: needPython, try: tryTables("--dims", "1,2", "--losses", "squared_l2,l2")},
		{name: "python-tables-l1", what: "the same by l1, of small tables", cases: 72, prepare: needPython, try: tryTables("--tables", "iris,wine,linnerud", "--losses", "l1")},
		{name: "python-exceptions", what: "exceptions at random in the functions of scqm.optimize.minimize: they come out, and nothing stays", cases: 1000, prepare: needPython, try: pythonCases("exceptions", 1000)},
		{name: "python-clusters", what: "fits on clusters of Dask: equal bits for all workers, chunks, kills of workers and of schedulers", cases: 21, prepare: needDask, try: tryCluster},
	}
}

// packageDrills are drills that are tests of packages; a new one needs a line here. cases
// sets the numbers of cases by drill name, for tests with internal/drill. env sets the
// variable of other tests, with %d for the number of cases.
var packageDrills = []goDrill{
	{name: "go-plugins", alone: true, pkg: "./plugins", run: "Hostile|Killed", cases: 5, env: "SCQM_PLUGIN_RUNS=%d"},
	{name: "go-plugin-lives", alone: true, pkg: "./plugins", run: "ManyLives", cases: 20, env: "SCQM_PLUGIN_RUNS=%d"},
	{name: "go-flips-runs", pkg: "./framework", run: "FlippedBits", cases: 32768},
	{name: "go-flips-models", pkg: "./models/scqm", run: "FlippedBits", cases: 32768},
	{name: "go-more-starts", pkg: "./models/scqm", run: "DrillMoreStarts", cases: 120},
	{name: "go-race", pkg: "./models/scqm", run: "DrillRace", cases: 10},
	{name: "go-flips-checkpoints", pkg: "./cmd/scqm", run: "FlippedBits", cases: 32768},
	{name: "go-tolerances", pkg: "./models/scqm", run: "DrillTolerances", cases: 250},
	{name: "go-killed-fits", alone: true, pkg: "./cmd/scqm", run: "Drill.*Killed", cases: 50},
	{name: "go-hostile-rows", pkg: "./models/denoise", run: "HostileRows", cases: 252},
	{name: "go-independent-rows", pkg: "./models/denoise", run: "RowsAreIndependent", cases: 42},
	{name: "go-outliers", pkg: "./models/denoise", run: "DrillOutliers", cases: 12},
	{name: "go-foreign-readers", pkg: "./cmd/scqm", run: "DrillForeign", cases: 40},
	{name: "go-suggested", pkg: "./models/selection", run: "TestSuggest$", cases: 27},
	{name: "go-stiefel-logarithms", pkg: "./manifolds", run: "DrillStiefelLog", cases: 2000},
	{name: "go-robust-fits", pkg: "./models/residuals", run: "DrillFits", cases: 1000},
	{name: "go-kinks", pkg: "./models/scqm", run: "DrillKinks", cases: 400},
	// Whole products of what make test tries in part.
	{name: "go-whole", alone: true, pkg: "./models/denoise ./models/scqm ./models/selection ./models/residuals ./solvers", run: ".", cases: 1, env: drill.EnvCases + "=%d,spoilt-entries=12,minima=24"},
	// What make test runs under the race detector only.
	{name: "go-without-races", alone: true, pkg: "./internal/par ./internal/gather ./internal/shm ./framework/... ./plugins/... ./bindings", run: ".", cases: 1, env: drill.EnvCases + "=%d"},
	{name: "go-races", alone: true, pkg: "./...", run: ".", cases: 1, env: drill.EnvCases + "=%d,method-rows=42,kinks=4,minima=4,suggested-truths=9,spoilt-entries=12", flags: []string{"-race"}},
	{name: "go-hostile", pkg: "./models/scqm", run: "DrillHostile", cases: 2000},
	{name: "go-nearest", pkg: "./models/scqm/internal/nearest", run: "DrillNearest", cases: 20000},
	{name: "go-batch", pkg: "./models/scqm/internal/nearest", run: "DrillBatch", cases: 5000},
	{name: "go-kernels", pkg: "./internal/dense", run: "DrillKernels", cases: 200000},
	{name: "go-nearest-fits", pkg: "./models/scqm", run: "DrillNearest", cases: 300},
	{name: "go-spoilt-entries", pkg: "./models/selection", run: "DrillSpoiltEntries", cases: 140},
	{name: "go-units", pkg: "./cmd/scqm", run: "DrillUnits", cases: 110},
	// All kinds of its grid once; the whole grid has twenty of each.
	{name: "go-minima", pkg: "./models/scqm", run: "DrillMinima", cases: 180},
	{name: "go-standard", pkg: "./solvers", run: "DrillStandard", cases: 400},
	// Twice the 25 standard problems with three solvers each: small ones, then full sizes.
	{name: "go-constants", pkg: "./internal/standard", run: "DrillConstants", cases: 150},
	{name: "go-flips-partials", pkg: "./models/scqm/internal/blocks", run: "FlippedBits", cases: 32768},
	{name: "go-streamed-fits", pkg: "./models/scqm", run: "DrillStreamedFits", cases: 6},
	{name: "go-stream-bits", pkg: "./models/scqm", run: "DrillStreamBits", cases: 3},
	{name: "go-memory", alone: true, pkg: "./cmd/scqm", run: "DrillMemory", cases: 50},
	{name: "go-sources", pkg: "./internal/dataset", run: "DrillSources", cases: 2000},
	{name: "go-streams", alone: true, pkg: "./cmd/scqm", run: "DrillStreams|DrillHundredGigabytes", cases: 20, env: drill.EnvCases + "=%d,hundred gigabytes=2"},
}
