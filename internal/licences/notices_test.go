package licences

import (
	"os"
	"regexp"
	"slices"
	"strings"
)

// grant matches what a licence within a comment says.
var grant = regexp.MustCompile(`(?i)permission is hereby granted|permission to use, copy|redistributions? (of|in) source|` +
	`permission to use, copy, modify|freely granted|subject to the following conditions`)

// notices returns the licences that stand in comments of linked sources, each
// once and with the files that have it: they ask to go along with copies.
func (m *collected) notices() (string, error) {
	where := map[string][]string{}
	for file := range m.files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		for _, c := range comments(string(text)) {
			if grant.MatchString(strings.Join(strings.Fields(c), " ")) {
				where[c] = append(where[c], m.nameOf(file))
			}
		}
	}
	var parts []string
	for c, names := range where {
		slices.Sort(names)
		parts = append(parts, "In "+strings.Join(slices.Compact(names), ", ")+":\n\n"+c)
	}
	slices.Sort(parts)
	return strings.Join(parts, "\n\n"), nil
}

// comments returns the blocks of comments of a source file without their marks.
func comments(source string) []string {
	var blocks []string
	var block []string
	flush := func() {
		if text := strings.Trim(strings.Join(block, "\n"), "\n"); text != "" {
			blocks = append(blocks, text+"\n")
		}
		block = nil
	}
	starred := false
	for line := range strings.Lines(strings.ReplaceAll(source, "\r\n", "\n")) {
		plain := strings.TrimSpace(line)
		switch {
		case starred:
			body, _, ends := strings.Cut(plain, "*/")
			block = append(block, strings.TrimRight(strings.TrimPrefix(strings.TrimPrefix(body, "*"), " "), " \t"))
			if starred = !ends; ends {
				flush()
			}
		case strings.HasPrefix(plain, "/*"):
			flush()
			body, _, ends := strings.Cut(plain[2:], "*/")
			block = append(block, strings.TrimSpace(body))
			if starred = !ends; ends {
				flush()
			}
		case strings.HasPrefix(plain, "//"):
			block = append(block, strings.TrimRight(strings.TrimPrefix(plain[2:], " "), " \t"))
		default:
			flush()
		}
	}
	flush()
	return blocks
}
