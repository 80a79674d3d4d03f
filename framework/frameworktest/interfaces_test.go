package frameworktest_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The guide says of every interface of the framework which laws it has.
func TestGuideListsEveryInterface(t *testing.T) {
	guide, err := os.ReadFile("../../docs/guide/go.md")
	require.NoError(t, err)
	files, err := filepath.Glob("../*.go")
	require.NoError(t, err)
	found := 0
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		require.NoError(t, err)
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSpec); ok {
				if _, ok := s.Type.(*ast.InterfaceType); ok && s.Name.IsExported() {
					found++
					assert.True(t, strings.Contains(string(guide), "`"+s.Name.Name+"`"), "the table of laws in docs/guide/go.md lacks %s", s.Name.Name)
				}
			}
			return true
		})
	}
	assert.Greater(t, found, 20)
}
