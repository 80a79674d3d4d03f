package plugins

import (
	_ "embed" // for the templates
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/scqm/scqm/framework"
)

// The languages of the plugins that [New] can write.
const (
	Go     = "go"
	Python = "python"
)

var (
	//go:embed templates/go.tmpl
	goTemplate string
	//go:embed templates/python.tmpl
	pythonTemplate string
)

// goModule is the template of the go.mod of a new plugin. go mod tidy adds the requirements.
const goModule = "module %s%s\n\ngo 1.26\n"

// Made is the result of [New].
type Made struct {
	// Files lists the files that were written.
	Files []string
	// Next says in one line what the user should do next.
	Next string
}

// New writes a working plugin into folder: the file scqm-loss-NAME for Python, or a
// folder of that name with a program for Go. It does not overwrite existing files.
func New(folder, name, language string) (*Made, error) {
	if !lossName.MatchString(name) {
		return nil, fmt.Errorf("plugins: the name %q is not made of a lower case letter and up to 63 lower case letters, digits and _: %w",
			name, framework.ErrInvalid)
	}
	target := filepath.Join(folder, Prefix+name)
	shown := target
	if !filepath.IsAbs(target) {
		shown = "." + string(filepath.Separator) + target
	}
	switch language {
	case Python:
		text := strings.ReplaceAll(pythonTemplate, "NAME", name)
		return &Made{[]string{shown}, "next: scqm plugin check " + shown}, writeNew(target, text, 0o755)
	case Go:
		if err := os.Mkdir(target, 0o755); err != nil {
			return nil, newFailure(err)
		}
		main, module := filepath.Join(target, "main.go"), filepath.Join(target, "go.mod")
		made := &Made{[]string{main, module}, fmt.Sprintf(
			"next: cd %s && go mod tidy && go build && scqm plugin check %s", shown, filepath.Join(".", Prefix+name))}
		made.Next = strings.Replace(made.Next, "check "+Prefix, "check ./"+Prefix, 1)
		if err := writeNew(main, strings.ReplaceAll(goTemplate, "NAME", name), 0o644); err != nil {
			return nil, err
		}
		return made, writeNew(module, fmt.Sprintf(goModule, Prefix, name), 0o644)
	default:
		return nil, fmt.Errorf("plugins: there are templates in %s and %s, not in %q: %w", Go, Python, language, framework.ErrInvalid)
	}
}

// writeNew writes a new file with exactly the given mode, whatever the umask is. Other
// users must not be able to write a plugin.
func writeNew(path, text string, mode os.FileMode) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return newFailure(err)
	}
	_, err = f.WriteString(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if closed := f.Close(); err == nil {
		err = closed
	}
	if err != nil {
		os.Remove(path)
		return newFailure(err)
	}
	return nil
}

func newFailure(err error) error {
	return fmt.Errorf("plugins: %w: %w", err, framework.ErrInvalid)
}
