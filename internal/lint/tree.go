package lint

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"strings"
	"unicode/utf8"
)

// skipped are folders of build outputs and third-party code. Hidden folders are skipped
// too, except those in shown.
const (
	skipped = "_build bin build dist node_modules out __pycache__"
	shown   = ".ci .github"
)

// Tree is the text files of a repository.
type Tree struct {
	// Files holds the text files, in lexical order of their paths.
	Files []*File

	positions *token.FileSet
}

// File is a text file.
type File struct {
	// Path is relative to the root, with slashes.
	Path string
	Text string
	// Go is the syntax of a Go file; nil for other files, for files below a
	// testdata folder, for generated files and for files with syntax errors.
	Go *ast.File
}

// Folder is the folder of the file, "." for the root.
func (f *File) Folder() string { return path.Dir(f.Path) }

// Test reports whether the file is a test file.
func (f *File) Test() bool { return strings.HasSuffix(f.Path, "_test.go") }

// Load reads a repository, without files that are not text.
func Load(root fs.FS) (*Tree, error) {
	t := &Tree{positions: token.NewFileSet()}
	err := fs.WalkDir(root, ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && skip(d.Name()):
			return fs.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		if bytes.IndexByte(text, 0) < 0 && utf8.Valid(text) {
			t.add(name, string(text))
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("lint: %w", err)
	}
	return t, nil
}

func skip(folder string) bool {
	hidden := strings.HasPrefix(folder, ".") && folder != "." && !isIn(folder, shown)
	return hidden || isIn(folder, skipped) || strings.HasSuffix(folder, ".egg-info")
}

func (t *Tree) add(name, text string) {
	f := &File{Path: name, Text: text}
	t.Files = append(t.Files, f)
	if !f.isGo() {
		return
	}
	syntax, err := parser.ParseFile(t.positions, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err == nil && !ast.IsGenerated(syntax) {
		f.Go = syntax
	}
}

// isGo reports whether the go command would look at the file.
func (f *File) isGo() bool {
	return path.Ext(f.Path) == ".go" && !strings.Contains("/"+f.Path, "/testdata/")
}

// goFiles yields the files that have Go syntax.
func (t *Tree) goFiles(yield func(*File) bool) {
	for _, f := range t.Files {
		if f.Go != nil && !yield(f) {
			return
		}
	}
}

// finding returns a finding at a position in a Go file.
func (t *Tree) finding(at token.Pos, format string, args ...any) Finding {
	p := t.positions.Position(at)
	return Finding{Path: p.Filename, Line: p.Line, Message: fmt.Sprintf(format, args...)}
}
