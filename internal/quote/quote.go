// Package quote makes untrusted text, such as the output of a plugin or the name of a
// file, safe to print. It escapes control characters, which can change the state of a
// terminal, and shortens long text.
package quote

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// maxBytes bounds the length of printed text.
const maxBytes = 300

// Text returns text in quotes, shortened; it returns "" for an empty text.
func Text(text string) string {
	if text == "" {
		return ""
	}
	if len(text) > maxBytes {
		text = strings.ToValidUTF8(text[:maxBytes], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}

// Name returns text, in quotes only if necessary.
func Name(text string) string {
	if text == "" || len(text) > maxBytes {
		return fmt.Sprintf("%q", text[:min(len(text), maxBytes)])
	}
	return Marks(text)
}

// Marks returns text, in quotes if it has characters that must not be printed.
func Marks(text string) string {
	if strings.ContainsFunc(text, IsControl) {
		return strconv.Quote(text)
	}
	return text
}

// Escape returns lines of text in which unsafe characters are escaped as in a quoted
// string.
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

// IsControl reports whether a character must not be printed unescaped. These include
// direction marks, which reorder text on the screen.
func IsControl(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp) || r == unicode.ReplacementChar
}
