package licences

import (
	"fmt"
	"slices"
	"strings"
)

// licence identifies the text of a licence by phrases that it must contain. White space is
// reduced to single spaces and letters to lower case before comparison.
type licence struct {
	spdx    string
	phrases []string
}

// known lists the licences that linked code may have. They allow distribution of programs
// and wheels, in binary form, under BSD-3-Clause. The first match counts.
var known = []licence{
	{"Apache-2.0", []string{"apache license version 2.0", "terms and conditions for use, reproduction, and distribution"}},
	{"MPL-2.0", []string{"mozilla public license, version 2.0", "1.1. \"contributor\""}},
	{"OFL-1.1", []string{"sil open font license version 1.1"}},
	{"CC-BY-4.0", []string{"creative commons attribution 4.0 international public license"}},
	{"FTL", []string{"the freetype project license"}},
	{"BSD-3-Clause", []string{"redistributions of source code must retain", "redistributions in binary form must reproduce", "may be used to endorse or promote products"}},
	{"BSD-2-Clause", []string{"redistributions of source code must retain", "redistributions in binary form must reproduce"}},
	{"MIT", []string{"permission is hereby granted, free of charge, to any person obtaining a copy", "the above copyright notice and this permission notice shall be included in all copies or substantial portions"}},
	{"ISC", []string{"permission to use, copy, modify, and/or distribute this software for any purpose"}},
}

// refused are phrases of licences with conditions on the whole program or its use, beyond
// a notice. A text with one of them matches no licence.
var refused = []string{
	"gnu general public license", "gnu lesser general public license", "gnu affero general public license",
	"business source license", "server side public license", "commons clause", "noncommercial", "sharealike",
}

// Recognise returns the SPDX identifier of a text, or an error if it is not one
// of the licences that may be linked.
func Recognise(text string) (string, error) {
	plain := strings.Join(strings.Fields(strings.ToLower(text)), " ")
	plain = strings.NewReplacer("“", `"`, "”", `"`).Replace(plain)
	for _, phrase := range refused {
		// The Mozilla licence names the GNU licences as secondary ones.
		if strings.Contains(plain, phrase) && !strings.Contains(plain, "mozilla public license, version 2.0") {
			return "", fmt.Errorf("licences: it says %q: %w", phrase, ErrUnknown)
		}
	}
	for _, l := range known {
		if !slices.ContainsFunc(l.phrases, func(p string) bool { return !strings.Contains(plain, p) }) {
			return l.spdx, nil
		}
	}
	return "", fmt.Errorf("licences: the text is that of no licence that may be linked: %w", ErrUnknown)
}

// Expression joins the licences of modules with AND, each once: first that of this module,
// then the others in order of name.
func Expression(modules []Module) string {
	own, rest := "", []string{}
	for _, m := range modules {
		if m.Path == Self {
			own = m.SPDX
		}
		rest = append(rest, strings.Split(m.SPDX, " AND ")...)
	}
	slices.Sort(rest)
	rest = slices.DeleteFunc(slices.Compact(rest), func(s string) bool { return s == own })
	return strings.Join(append([]string{own}, rest...), " AND ")
}
