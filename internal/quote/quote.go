// Package quote makes text of strangers, such as the output of a plugin or the
// name of a file, safe to be shown: control characters could do anything to a
// terminal, and long text hides what matters.
package quote

import (
	"fmt"
	"strconv"
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
	if text == "" || len(text) > maxBytes {
		return fmt.Sprintf("%q", text[:min(len(text), maxBytes)])
	}
	return Marks(text)
}

// Marks returns a text in quotes where it has characters that are not to be shown.
func Marks(text string) string {
	if strings.ContainsFunc(text, IsControl) {
		return strconv.Quote(text)
	}
	return text
}

// Escape returns lines in which characters that must not be shown are escaped as in a
// quoted string.
func Escape(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r != '\n' && IsControl(r) {
			b.WriteString(strings.Trim(strconv.QuoteRuneToASCII(r), "'"))
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// IsControl reports whether a character is not to be shown as it is. Marks of
// direction, which show a text in another order, are such.
func IsControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}
