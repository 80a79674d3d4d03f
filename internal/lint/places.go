package lint

import "regexp"

// place matches the names of package servers and paths into home directories. It is
// written in pieces, so that it does not match itself.
var place = regexp.MustCompile(`(?i)\b(` +
	`(proxy|sum)\.golang` + `\.org|` +
	`(test\.)?pypi` + `\.org|files\.pythonhosted` + `\.org|` +
	`registry\.(npmjs` + `\.org|yarnpkg` + `\.com)|` +
	`(index|static)\.crates` + `\.io|` +
	`repo1?\.maven\.(apache` + `\.org|org)|` +
	`deb\.debian` + `\.org)\b` +
	`|(^|[^\w./-])(/ho` + `me/|/Us` + `ers/|/ro` + `ot/)\w*`)

// checkPlaces finds matches of place in every text file. The source of packages is a
// setting of the machine, not of the repository.
func checkPlaces(t *Tree) []Finding {
	var found []Finding
	for _, f := range t.Files {
		found = append(found, matchLines(f, place, "text must not name a place of one machine or network")...)
	}
	return found
}
