package plugins

import (
	"errors"

	"github.com/scqm/scqm/plugins/internal/executable"
)

// AnySHA256 as a checksum takes any file.
const AnySHA256 = "any"

// Trusted returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write, and
// nobody else must be able to put another one in its place. The last holds
// where every folder on the way to it, through symbolic links too, belongs to
// this user or root, and neither its group nor others can write it. In a folder
// with the sticky bit, such as /tmp, others can make files but not replace those
// of this user: it may be on the way, but no link in it, and no file in it that
// has a second name.
func Trusted(path string) error { return refusal(executable.Check(path)) }

// openExecutable opens a file that may be started, with the checksum that
// Options name.
func openExecutable(path, pinned string) (*executable.File, error) {
	if pinned == AnySHA256 {
		pinned = ""
	}
	file, err := executable.Open(path, pinned)
	return file, refusal(err)
}

// refusal turns the error of a file into that of a plugin.
func refusal(err error) error {
	if refused, ok := errors.AsType[*executable.Error](err); ok {
		return &Error{refused.Path, "check", refused.Kind, refused.Detail, ""}
	}
	return err
}
