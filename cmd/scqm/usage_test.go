package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/cmd/scqm/internal/cli"
)

// TestRefusals gives every command what it cannot use: one line, exit code 2,
// and no file. In the arguments, % stands for the directory of the files.
func TestRefusals(t *testing.T) {
	p := newPlace(t)
	good := bowl(30, 4)
	p.matrix("good.csv", good)
	p.matrix("other.npy", bowl(30, 5))
	succeed(t, "fit", p.path("good.csv"), "-o", p.path("model.npz"))
	p.file("nan.csv", "1,2\n3,NaN\n")
	p.file("ragged.csv", "1,2\n3\n")
	p.file("empty.csv", "")
	p.file("square.csv", "1,0\n0,1\n")
	p.file("negative.csv", "1,0,0,0\n0,1,0,0\n0,0,1,0\n0,0,0,-1\n")
	p.matrix("fewer.csv", bowl(29, 4))
	p.file("labels.txt", strings.Repeat("x\n", 30))
	p.file("few.txt", "x\ny\n")
	cut(t, p, "other.npy", "cut.npy")
	cut(t, p, "model.npz", "cut.npz")
	before := p.names()

	for _, c := range []struct{ args, want string }{
		{"nonsense", `scqm: no command "nonsense"; see scqm --help`},
		{"fti", `scqm: no command "fti"; did you mean fit?; see scqm --help`},
		{"help nonsense", `scqm: help: no command "nonsense"; see scqm --help`},
		{"--nonsense", "scqm: unknown flag: --nonsense; see scqm --help"},

		{"fit", "scqm: fit: arguments: want DATA, got none; see scqm fit --help"},
		{"fit a b -o %/m.npz", "scqm: fit: arguments: want DATA, got a b; see scqm fit --help"},
		{"fit %/good.csv -o %/m.csv", "scqm: fit: -o: %/m.csv: cannot tell the format; the name must end in .npz"},
		{"fit %/good.csv -o -", "scqm: fit: -o: -: cannot tell the format; the name must end in .npz"},
		{"fit %/good.csv -o %/none/m.npz", `scqm: fit: -o: %/none/m.npz: there is no directory "%/none/"; create it first`},
		{"fit %/good.csv -o %/good.csv/m.npz", "scqm: fit: -o: %/good.csv/m.npz: not a directory"},
		{"fit %/missing.csv -o %/m.npz", "scqm: fit: %/missing.csv: no such file or directory"},
		{"fit %/nan.csv -o %/m.npz", `scqm: fit: %/nan.csv:2:2: "NaN" is no number (missing): fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`},
		{"fit %/ragged.csv -o %/m.npz", "scqm: fit: %/ragged.csv:2: 1 fields, expected 2 as in line 1"},
		{"fit %/empty.csv -o %/m.npz", "scqm: fit: %/empty.csv: holds no rows"},
		{"fit %/cut.npy -o %/m.npz", "scqm: fit: %/cut.npy: "},
		{"fit %/good.csv -o %/m.npz --nonsense", "scqm: fit: unknown flag: --nonsense; see scqm fit --help"},
		{"fit %/good.csv -o %/m.npz -d 0", `scqm: fit: invalid argument "0" for "-d, --latent" flag: want a whole number of at least 1; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz -d 5", "scqm: fit: latent dimension 5 does not fit rows of length 4; want 1 to 4"},
		{"fit %/good.csv -o %/m.npz -d 5 --loss huber", "scqm: fit: latent dimension 5 does not fit rows of length 4; want 1 to 4"},
		{"fit %/good.csv -o %/m.npz -s -1", `scqm: fit: invalid argument "-1" for "-s, --curvature" flag: want a number of at least 1, auto or full; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz -d 2.5", `scqm: fit: invalid argument "2.5" for "-d, --latent" flag: want a whole number of at least 1; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --seed -1", `scqm: fit: invalid argument "-1" for "--seed" flag: want a whole number of at least 0; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --labels= --keep x", `scqm: fit: invalid argument "" for "--labels" flag: want a name; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --tol 0", `scqm: fit: invalid argument "0" for "--tol" flag: want a number above 0; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --tol NaN", `scqm: fit: invalid argument "NaN" for "--tol" flag: want a number above 0; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --ridge -1", `scqm: fit: invalid argument "-1" for "--ridge" flag: want a number of at least 0, or auto; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --ridge Inf", `scqm: fit: invalid argument "Inf" for "--ridge" flag: want a number of at least 0, or auto; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --time-limit soon", `scqm: fit: invalid argument "soon" for "--time-limit" flag: want a time above 0, such as 1m30s, or a number of seconds; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --progress maybe", `scqm: fit: invalid argument "maybe" for "--progress" flag: want one of auto, always, never; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --solver magic", `scqm: fit: invalid argument "magic" for "--solver" flag: want one of auto, `},
		{"fit %/good.csv -o %/m.npz --preset magic", `scqm: fit: invalid argument "magic" for "--preset" flag: want one of paper; see scqm fit --help`},
		{"fit %/good.csv -o %/m.npz --preset paper --solver auto", "scqm: fit: --solver does nothing beside --preset, which chooses a solver; leave it out"},
		{"fit %/good.csv -o %/m.npz --linear --ridge 1", "scqm: fit: --ridge does nothing beside --linear; leave it out"},
		{"fit %/good.csv -o %/m.npz --keep x", "scqm: fit: --keep does nothing without --labels; leave it out"},
		{"fit %/good.csv -o %/m.npz --first 2", "scqm: fit: --first does nothing without --labels; leave it out"},
		{"fit %/good.csv -o %/m.npz --labels %/labels.txt", "scqm: fit: --labels does nothing without --keep or --first; leave it out"},
		{"fit %/good.csv -o %/m.npz --labels %/labels.txt --keep z", `scqm: fit: no row has the label "z"; there are "x"`},
		{"fit %/good.csv -o %/m.npz --labels %/few.txt --keep x", "scqm: fit: 2 labels for 30 rows; give one label for each row"},
		{"fit %/good.csv -o %/m.npz --scale", "scqm: fit: %/good.csv: scaling by 255 is for 8-bit values, not for text; leave it out"},
		{"fit %/good.csv -o %/m.npz --columns 9", "scqm: fit: %/good.csv: no column 9; there are columns 1 to 4"},
		{"fit %/good.csv -o %/m.npz --loss l3", `scqm: fit: --loss: losses: no loss "l3" `},
		{"fit %/good.csv -o %/m.npz --loss lp", "scqm: fit: --loss: losses: loss lp needs p (power, at least 1)"},
		{"fit %/good.csv -o %/m.npz --loss lp --p 0.5", "scqm: fit: --loss: losses: lp: p = 0.5: want p >= 1"},
		{"fit %/good.csv -o %/m.npz --p 2", "scqm: fit: --loss: losses: loss l2 takes no p"},
		{"fit %/good.csv -o %/m.npz --delta 2", "scqm: fit: --loss: losses: loss l2 takes no delta"},
		{"fit %/good.csv -o %/m.npz --loss mahalanobis", "scqm: fit: --loss: losses: loss mahalanobis needs precision (symmetric positive definite matrix M)"},
		{"fit %/good.csv -o %/m.npz --loss mahalanobis --precision %/missing.csv", "scqm: fit: --precision: %/missing.csv: no such file or directory"},
		{"fit %/good.csv -o %/m.npz --loss mahalanobis --precision %/square.csv", "scqm: fit: loss mahalanobis is for rows of length 2, the data have 4 columns"},
		{"fit %/good.csv -o %/m.npz --loss mahalanobis --precision %/negative.csv", "scqm: fit: --precision: %/negative.csv: losses: mahalanobis: row 3, column 3 is -1: not positive definite"},

		{"transform %/model.npz", "scqm: transform: arguments: want MODEL and DATA, got %/model.npz; see scqm transform --help"},
		{"transform %/model.npz %/good.csv -o %/t.txt", "scqm: transform: -o: %/t.txt: cannot tell the format; the name must end in .npy, .npz, .csv, .tsv"},
		{"transform %/model.npz %/good.csv -o %/none/t.npy", `scqm: transform: -o: %/none/t.npy: there is no directory "%/none/"; create it first`},
		{"transform %/missing.npz %/good.csv", "scqm: transform: %/missing.npz: no such file or directory"},
		{"transform %/cut.npz %/good.csv", "scqm: transform: %/cut.npz: "},
		{"transform %/good.csv %/model.npz", "scqm: transform: %/good.csv: is not an .npz archive: it looks like text"},
		{"transform %/model.npz %/other.npy -o %/t.npy", "scqm: transform: %/other.npy: rows of 5 columns do not fit %/model.npz, which takes 4"},
		{"transform %/model.npz %/nan.csv -o %/t.npy", `scqm: transform: %/nan.csv:2:2: "NaN" is no number (missing): fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`},
		{"transform %/model.npz %/good.csv --threads 0", `scqm: transform: invalid argument "0" for "--threads" flag: want a whole number of at least 1; see scqm transform --help`},
		{"transform %/model.npz %/good.csv --keep x", "scqm: transform: --keep does nothing without --labels; leave it out"},
		{"project %/model.npz %/other.npy", "scqm: project: %/other.npy: rows of 5 columns do not fit %/model.npz, which takes 4"},
		{"influence %/model.npz", "scqm: influence: arguments: want MODEL and DATA, got %/model.npz; see scqm influence --help"},
		{"influence %/model.npz %/other.npy", "scqm: influence: %/other.npy: rows of 5 columns do not fit %/model.npz, which takes 4"},
		{"influence %/model.npz %/fewer.csv", "scqm: influence: the objective of the model is "},
		{"influence %/model.npz %/good.csv -o %/m.txt", "scqm: influence: -o: %/m.txt: cannot tell the format; the name must end in .npy, .npz, .csv, .tsv"},
		{"influence %/model.npz %/good.csv -o - --json", "scqm: influence: --json does nothing beside -o -, which leaves standard output to the rows; leave it out"},
		{"influence %/model.npz %/good.csv --top 0", `scqm: influence: invalid argument "0" for "--top" flag: want a whole number of at least 1; see scqm influence --help`},
		{"influence %/model.npz %/good.csv --plugin x", "scqm: influence: %/model.npz: --plugin does nothing beside a model whose loss is built in; leave it out"},
		{"mean", "scqm: mean: arguments: want DATA, got none; see scqm mean --help"},
		{"mean %/good.csv --top 3", "scqm: mean: --top does nothing without -o FILE or --json; leave it out"},
		{"mean %/good.csv --influence -", "scqm: mean: --influence: standard output is for the mean; name a file"},
		{"mean %/good.csv --loss mahalanobis --precision %/square.csv", "scqm: mean: loss mahalanobis is for rows of length 2, the data have 4 columns"},
		{"mean %/nan.csv", `scqm: mean: %/nan.csv:2:2: "NaN" is no number (missing): fill it in, leave out its row, or ignore what is missing (missing="ignore", --missing ignore)`},
		{"reconstruct %/model.npz %/other.npy", "scqm: reconstruct: %/other.npy: rows of 5 columns do not fit %/model.npz, which takes 2"},
		{"reconstruct %/model.npz %/good.csv", "scqm: reconstruct: %/good.csv: rows of 4 columns do not fit %/model.npz, which takes 2"},
		{"reconstruct %/model.npz %/square.csv --scale", "scqm: reconstruct: unknown flag: --scale; see scqm reconstruct --help"},

		{"losses x", "scqm: losses: arguments: want no arguments, got x; see scqm losses --help"},
		{"solvers x", "scqm: solvers: arguments: want no arguments, got x; see scqm solvers --help"},
		{"version x", "scqm: version: arguments: want no arguments, got x; see scqm version --help"},

		{"completion bash x", `scqm: completion: bash: unknown command "x" for "scqm completion bash"`},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := execute(strings.Fields(strings.ReplaceAll(c.args, "%", p.dir))...)
			assert.Equal(t, cli.ExitUsage, r.code)
			assert.Empty(t, r.stdout)
			assert.Equal(t, 1, strings.Count(r.stderr, "\n"), r.stderr)
			assert.True(t, strings.HasPrefix(r.stderr, strings.ReplaceAll(c.want, "%", p.dir)), "got  %swant %s", r.stderr, c.want)
			assert.Equal(t, before, p.names())
		})
	}
}

// cut copies the first part of a file.
func cut(t *testing.T, p place, from, to string) {
	t.Helper()
	b, err := os.ReadFile(p.path(from))
	require.NoError(t, err)
	p.file(to, string(b[:len(b)*2/3]))
}

func TestHelp(t *testing.T) {
	assert.Equal(t, succeed(t, []string{}...), succeed(t, "--help"))
	assert.Equal(t, succeed(t, "help", "fit"), succeed(t, "fit", "--help"))
	for _, command := range []string{"fit", "transform", "reconstruct", "project", "influence", "mean", "losses", "solvers", "version"} {
		assert.Contains(t, succeed(t, "help"), "\n  "+command+" ")
		assert.Contains(t, succeed(t, command, "--help"), "scqm "+command)
	}
}

func TestCancelledContext(t *testing.T) {
	p := newPlace(t)
	data := p.matrix("data.npy", bowl(30, 4))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := executeWith(ctx, "", "fit", data, "-o", p.path("model.npz"))
	assert.Equal(t, result{cli.ExitInterrupted, "", "scqm: fit: interrupted\n"}, r)
	assert.Equal(t, []string{"data.npy"}, p.names())
}
