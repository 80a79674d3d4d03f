package plugins

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/scqm/scqm/internal/quote"
)

// maxTextBytes bounds the texts of a description.
const maxTextBytes = 1000

// lossName is what losses can be called.
var lossName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// IsName reports whether text is what a loss can be called: a lower case letter
// and up to 63 of a-z, 0-9 and _.
func IsName(text string) bool { return lossName.MatchString(text) }

// Description is what a plugin says about its loss.
type Description struct {
	// Name is the name of the loss, Version that of the plugin.
	Name, Version string
	// Summary says when to use the loss, Formula what it is.
	Summary, Formula string
	// Schema describes the parameters.
	Schema Schema
}

func (d Description) check() error {
	if !lossName.MatchString(d.Name) {
		return fmt.Errorf("its name, %s, is not made of a lower case letter and up to 63 lower case letters, digits and _", quote.Text(d.Name))
	}
	for _, text := range []string{d.Version, d.Summary, d.Formula} {
		if len(text) > maxTextBytes || strings.ContainsFunc(text, quote.IsControl) {
			return errors.New("its version, summary or formula is not one line of at most 1000 bytes")
		}
	}
	return nil
}
