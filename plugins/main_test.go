package plugins

import (
	"cmp"
	"flag"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/losses"
)

// asPlugin in the environment makes the test binary a plugin of that kind.
const asPlugin = "SCQM_TEST_PLUGIN"

func TestMain(m *testing.M) {
	Guard()
	// A program with the race detector takes a second to end otherwise.
	passed = append(passed, "GORACE")
	if err := os.Setenv("GORACE", "atexit_sleep_ms=0"); err != nil {
		panic(err)
	}
	if len(os.Args) == 3 && (os.Args[1] == hiddenFirst || os.Args[1] == hiddenSecond) {
		hide(os.Args[1], os.Args[2])
	}
	// Files and folders of tests must not be refused for the umask.
	syscall.Umask(0o022)
	switch kind, rest, _ := strings.Cut(os.Getenv(asPlugin), ":"); kind {
	case "":
		waitTogether()
		os.Exit(m.Run())
	case "builtin":
		Serve(builtin(rest))
	case "hostile":
		hostile(rest)
	case "wrong":
		Serve(wrongLoss(rest))
	case "knob":
		Serve(&knob{C: 1, N: 2, Mode: "even", inner: 10})
	case "cauchy":
		Serve(Radial(&cauchy{C: 1}))
	case "mortal":
		Serve(newMortal(rest))
	case "fair":
		Serve(Radial(fair{}))
	case "host":
		host(rest)
	}
	os.Exit(0)
}

// parallel is the number of tests at a time: most wait for deadlines.
const parallel = "8"

// waitTogether runs more tests at a time than there are processors, unless the
// command line says how many.
func waitTogether() {
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if given {
		return
	}
	if err := flag.Set("test.parallel", parallel); err != nil {
		panic(err)
	}
}

// builtin returns the loss that a text such as lp:1.3 stands for.
func builtin(text string) framework.Loss {
	name, number, _ := strings.Cut(text, ":")
	var p losses.Params
	if v, err := strconv.ParseFloat(number, 64); err == nil {
		switch name {
		case "lp":
			p.P = &v
		case "huber":
			p.Delta = &v
		}
	}
	l, err := losses.ByName(name, p)
	if err != nil {
		panic(err)
	}
	return l
}

// self is the test binary.
func self(t testing.TB) string {
	t.Helper()
	path, err := os.Executable()
	require.NoError(t, err)
	return path
}

// start opens the test binary as a plugin of some kind.
func start(t testing.TB, kind string, o Options) *Plugin {
	t.Helper()
	o.Env = append(o.Env, asPlugin+"="+kind)
	o.StartTimeout = cmp.Or(o.StartTimeout, longest)
	p, err := Open(t.Context(), self(t), o)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.Close()) })
	return p
}
