package plugins

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/scqm/scqm/internal/quote"
)

// maxTextBytes is the maximum size of a text in a description.
const maxTextBytes = 1000

// lossName matches the valid names of losses.
var lossName = regexp.MustCompile(`^[a-z][a-z0-9_]{0,63}$`)

// IsName reports whether text is a valid name of a loss: a lower-case letter followed
// by at most 63 characters from a-z, 0-9 and _.
func IsName(text string) bool { return lossName.MatchString(text) }

// Description describes the loss of a plugin, as the plugin reports it.
type Description struct {
	// Name is the name of the loss. Version is the version of the plugin.
	Name, Version string
	// Summary says when to use the loss. Formula is its formula.
	Summary, Formula string
	// Schema describes the parameters of the loss.
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
