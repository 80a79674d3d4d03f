// Package quote makes text of strangers, such as the output of a plugin or the
// name of a file, safe to be shown: control characters could do anything to a
// terminal, and long text hides what matters.
package quote

import (
	"fmt"
	"strings"
	"unicode"
)

// maxBytes bounds the text that is shown.
const maxBytes = 300

// Text returns a text in quotes, shortened; "" for an empty one.
func Text(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}

// Name returns a text in quotes only where it needs them.
func Name(text string) string {
	if text == "" || len(text) > maxBytes || strings.ContainsFunc(text, IsControl) {
		return fmt.Sprintf("%q", text[:min(len(text), maxBytes)])
	}
	return text
}

// IsControl reports whether a character is not to be shown as it is.
func IsControl(r rune) bool { return unicode.IsControl(r) || r == unicode.ReplacementChar }
