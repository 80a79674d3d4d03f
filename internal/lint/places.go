package lint

import "regexp"

// place matches the names of package servers and paths into somebody's home,
// in pieces so that it does not match itself.
var place = regexp.MustCompile(`(?i)\b(` +
	`(proxy|sum)\.golang` + `\.org|` +
	`(test\.)?pypi` + `\.org|files\.pythonhosted` + `\.org|` +
	`registry\.(npmjs` + `\.org|yarnpkg` + `\.com)|` +
	`(index|static)\.crates` + `\.io|` +
	`repo1?\.maven\.(apache` + `\.org|org)|` +
	`deb\.debian` + `\.org)\b` +
	`|(^|[^\w./-])(/ho` + `me/|/Us` + `ers/|/ro` + `ot/)\w*`)

// checkPlaces finds such names in every text file. Where packages come from is
// a setting of the machine.
func checkPlaces(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		found = append(found, matchLines(f, place, "text must not name a place of one machine or network")...)
	}
	return found
}
