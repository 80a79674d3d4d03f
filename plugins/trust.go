package plugins

import (
	"errors"

	"github.com/scqm/scqm/plugins/internal/executable"
)

// AnySHA256 is a value for a checksum that accepts any file.
const AnySHA256 = "any"

// Trusted returns why a file would not be started, or nil: it must be a regular
// executable file, owned by this user or root, that nobody else can write or
// replace. Nobody else can replace it if every folder of its path, also behind
// symbolic links, belongs to this user or root and is not writable by its group
// or others. A folder with the sticky bit, such as /tmp, is also accepted, as
// others cannot replace files of this user there. But a symbolic link in such a
// folder, or a file with a second hard link in it, is not accepted.
func Trusted(path string) error { return refusal(executable.Check(path)) }

// openExecutable opens a file that passes the checks of [Trusted] and has the pinned
// checksum.
func openExecutable(path, pinned string) (*executable.File, error) {
	if pinned == AnySHA256 {
		pinned = ""
	}
	file, err := executable.Open(path, pinned)
	return file, refusal(err)
}

// refusal converts the error of a rejected file to an [Error] of a plugin.
func refusal(err error) error {
	if refused, ok := errors.AsType[*executable.Error](err); ok {
		return &Error{refused.Path, "check", refused.Kind, refused.Detail, ""}
	}
	return err
}
