package plugins

import (
	"context"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// Open starts a plugin and configures its loss. The plugin is a path or a name
// for [Find]. When ctx is done, the start and all calls end with its error;
// Close is needed in any case.
//
// A plugin that ends during a call is started again, once, and the call made again; see [Plugin.Restarts].
func Open(ctx context.Context, nameOrPath string, o Options) (*Plugin, error) {
	path, err := Find(nameOrPath)
	if err != nil {
		return nil, err
	}
	return (&Plugin{ctx: ctx, options: o.withDefaults(), name: nameOrPath, path: path}).open()
}

// open starts a plugin that knows where its file is.
func (p *Plugin) open() (*Plugin, error) {
	file, err := openExecutable(p.path, p.options.SHA256)
	if err != nil {
		return nil, err
	}
	p.sha256 = file.SHA256
	err = p.start(file)
	file.Close()
	if err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// Guard lets this program be started once more as a guard, which ends a plugin with everything that it has
// started, on Linux: main calls it first. In a guard it does not return. Without it, and without [SetGuard],
// a shell does what it can.
func Guard() { guard.Run() }

// SetGuard names another program that runs guards. A library in a program of another language brings the command
// plugins/internal/guard/cmd along.
func SetGuard(path string) { guard.SetExecutable(path) }
