package lint

import (
	"path/filepath"
	"testing"
)

// TestOutside builds and tests the module in testdata/outside, which adds a manifold, a
// loss, a solver and a problem to the framework as somebody else's module would: with
// nothing but what is exported. It takes the packages of [TestReadme] from the cache.
func TestOutside(t *testing.T) {
	needTools(t)
	run(t, filepath.Join(root(t), "testdata", "outside"), "go", "test", "-mod=readonly", "./...")
}
