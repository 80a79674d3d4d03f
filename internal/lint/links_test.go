package lint

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"testing/fstest"
)

var (
	// fenced matches a block of code.
	fenced = regexp.MustCompile("(?ms)^ *(```+)[^\n]*\n.*?^ *```+ *$")
	// linkTarget matches the target of [text](target) and ![text](target).
	linkTarget = regexp.MustCompile(`\]\(([^()\s]+)(?: "[^"]*")?\)`)
	heading    = regexp.MustCompile(`(?m)^#{1,6} +(.*?) *#*$`)
	linkText   = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`)
	// notInAnchor matches what anchors leave out of headings.
	notInAnchor = regexp.MustCompile(`[^\p{L}\p{N}\p{M} _-]`)
)

// TestLinks follows every relative link of every Markdown file.
func TestLinks(t *testing.T) {
	root := os.DirFS(root(t))
	tree, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, f := range deadLinks(tree, func(name string) bool {
		links++
		_, err := os.Stat(filepath.Join("..", "..", filepath.FromSlash(name)))
		return err == nil
	}) {
		t.Error(f)
	}
	if links < 50 {
		t.Errorf("only %d links were found", links)
	}
}

// deadLinks returns the relative links to files for which exists is false, and
// to headings that are not there.
func deadLinks(t *Tree, exists func(name string) bool) []Finding {
	text := map[string]string{}
	for _, f := range t.Files {
		if path.Ext(f.Path) == ".md" {
			text[f.Path] = f.Text
		}
	}
	var found []Finding
	for _, f := range t.Files {
		for _, m := range linkTarget.FindAllStringSubmatch(withoutCode(text[f.Path]), -1) {
			target, err := url.Parse(m[1])
			if err == nil && (target.Scheme != "" || target.Host != "") {
				continue
			}
			file := f.Path
			if err == nil && target.Path != "" {
				file = path.Join(f.Folder(), target.Path)
			}
			switch {
			case err != nil || !exists(file):
				found = append(found, Finding{Path: f.Path, Message: "links to " + m[1] + ", which is not there"})
			case target.Fragment != "" && !anchors(text[file])[target.Fragment]:
				found = append(found, Finding{Path: f.Path, Message: "links to " + m[1] + ", but there is no such heading"})
			}
		}
	}
	return found
}

// withoutCode blanks what looks like a link but is code.
func withoutCode(markdown string) string {
	return codeSpan.ReplaceAllString(fenced.ReplaceAllString(markdown, ""), "")
}

// anchors returns the names under which the headings of a page can be linked to:
// in small letters, without punctuation, with hyphens for blanks.
func anchors(markdown string) map[string]bool {
	found := map[string]bool{}
	for _, m := range heading.FindAllStringSubmatch(fenced.ReplaceAllString(markdown, ""), -1) {
		plain := linkText.ReplaceAllString(m[1], "$1")
		plain = notInAnchor.ReplaceAllString(strings.ToLower(plain), "")
		found[strings.ReplaceAll(plain, " ", "-")] = true
	}
	return found
}

func TestDeadLinks(t *testing.T) {
	files := fstest.MapFS{
		"docs/a.md": {Data: []byte("# One, `two` and [three](b.md)\n\n```sh\n# no heading\n```\n")},
		"docs/b.md": {Data: []byte("b\n")},
	}
	for link, dead := range map[string]bool{
		"docs/a.md": false, "docs/a.md#one-two-and-three": false, "docs/": false, "#top": false,
		"https://example.org/none": false, "mailto:a@example.org": false,
		"docs/c.md": true, "docs/a.md#no-heading": true, "docs/a.md#One": true, "#bottom": true, "a.md": true,
	} {
		files["page.md"] = &fstest.MapFile{Data: []byte("# Top\n\nsee [it](" + link + ") and `[that](x.md)`\n")}
		tree, err := Load(files)
		if err != nil {
			t.Fatal(err)
		}
		found := deadLinks(tree, func(name string) bool {
			_, err := files.Open(name)
			return err == nil
		})
		if (len(found) == 1) != dead || len(found) > 1 {
			t.Errorf("%s: found %v", link, found)
		}
	}
}
