package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/doc"
	"go/format"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// source is a package as its files say it.
type source struct {
	doc  *doc.Package
	fset *token.FileSet
}

// load reads the Go files of a folder, tests among them for their examples.
func load(folder, importPath string) (*source, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	fset := token.NewFileSet()
	var files []*ast.File
	for _, e := range entries {
		if e.IsDir() || filepath.Ext(e.Name()) != ".go" {
			continue
		}
		f, err := parser.ParseFile(fset, filepath.Join(folder, e.Name()), nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s: %w: no Go files", folder, fs.ErrNotExist)
	}
	d, err := doc.NewFromFiles(fset, files, importPath)
	if err != nil {
		return nil, err
	}
	return &source{doc: d, fset: fset}, nil
}

// page is the package in Markdown: its comment and examples, then every exported name.
func (p *source) page() string {
	var b strings.Builder
	d := p.doc
	fmt.Fprintf(&b, "# %s\n\n```go\nimport %q\n```\n\n%s", strings.TrimPrefix(d.ImportPath, module+"/"), d.ImportPath, p.markdown(d.Doc))
	p.examples(&b, d.Examples)
	p.values(&b, "Constants", d.Consts)
	p.values(&b, "Variables", d.Vars)
	p.functions(&b, "## ", d.Funcs)
	for _, t := range d.Types {
		fmt.Fprintf(&b, "\n## type %s\n\n%s\n%s", t.Name, p.code(t.Decl), p.markdown(t.Doc))
		p.examples(&b, t.Examples)
		for _, group := range [][]*doc.Value{t.Consts, t.Vars} {
			p.values(&b, "", group)
		}
		p.functions(&b, "### ", t.Funcs)
		p.functions(&b, "### ", t.Methods)
	}
	return b.String()
}

func (p *source) functions(b *strings.Builder, level string, functions []*doc.Func) {
	for _, f := range functions {
		name := f.Name
		if f.Recv != "" {
			name = "(" + f.Recv + ") " + name
		}
		fmt.Fprintf(b, "\n%sfunc %s\n\n%s\n%s", level, escape(name), p.code(f.Decl), p.markdown(f.Doc))
		p.examples(b, f.Examples)
	}
}

func (p *source) values(b *strings.Builder, title string, values []*doc.Value) {
	if title != "" && len(values) > 0 {
		fmt.Fprintf(b, "\n## %s\n", title)
	}
	for _, v := range values {
		fmt.Fprintf(b, "\n%s\n%s", p.code(v.Decl), p.markdown(v.Doc))
	}
}

func (p *source) examples(b *strings.Builder, examples []*doc.Example) {
	for _, e := range examples {
		fmt.Fprintf(b, "\n**Example**\n\n%s%s", p.markdown(e.Doc), p.code(e.Code))
		if e.Output != "" {
			fmt.Fprintf(b, "\n```text\n%s```\n", e.Output)
		}
	}
}

// outputComment matches what an example says that it prints, which stands below.
var outputComment = regexp.MustCompile(`(?is)\n\s*//\s*(unordered )?output:.*\}\s*$`)

// code is a declaration without its body, or the body of an example, in a block.
func (p *source) code(node any) string {
	if f, ok := node.(*ast.FuncDecl); ok {
		f.Body, f.Doc = nil, nil
	}
	if d, ok := node.(*ast.GenDecl); ok {
		d.Doc = nil
	}
	var b bytes.Buffer
	if err := format.Node(&b, p.fset, node); err != nil {
		return ""
	}
	text := b.String()
	if _, ok := node.(*ast.BlockStmt); ok {
		text = strings.TrimSpace(outputComment.ReplaceAllString(text, "\n}"))
		text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
		text = strings.ReplaceAll(strings.Trim(text, "\n"), "\n\t", "\n")
		text = strings.TrimPrefix(text, "\t")
	}
	return "```go\n" + strings.TrimRight(text, "\n") + "\n```\n"
}

// headings matches the anchors that go/doc/comment gives headings.
var headings = regexp.MustCompile(`(?m)^#+ (.*?) ?\{#.*\}$`)

// links matches links to other packages, which stand on other pages here.
var links = regexp.MustCompile(`\[([^\]]+)\]\(/?[^)\s]*\)`)

// markdown is a doc comment in Markdown; links become code, web addresses stay links.
func (p *source) markdown(comment string) string {
	printer := p.doc.Printer()
	printer.HeadingLevel = 3
	text := string(printer.Markdown(p.doc.Parser().Parse(comment)))
	text = headings.ReplaceAllString(text, "**$1**")
	return links.ReplaceAllStringFunc(text, func(link string) string {
		m := links.FindStringSubmatch(link)
		if strings.Contains(link, "](http") {
			return link
		}
		return "`" + strings.ReplaceAll(m[1], `\`, "") + "`"
	})
}

// special matches characters that Markdown takes for its own.
var special = regexp.MustCompile("[\\\\`*_\\[\\]<>|]")

func escape(text string) string { return special.ReplaceAllString(text, `\$0`) }
