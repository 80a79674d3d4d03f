package plugins

import (
	"context"

	"github.com/scqm/scqm/plugins/internal/guard"
)

// Open starts a plugin and configures its loss. nameOrPath is passed to [Find]. When ctx is done, the
// start and all calls return the error of ctx. The caller must call Close, also when ctx is done.
//
// If a plugin ends during a call, it is restarted once and the call is repeated; see [Plugin.Restarts].
func Open(ctx context.Context, nameOrPath string, o Options) (*Plugin, error) {
	path, err := Find(nameOrPath)
	if err != nil {
		return nil, err
	}
	return (&Plugin{ctx: ctx, options: o.withDefaults(), name: nameOrPath, path: path}).open()
}

// open starts a plugin whose file is already known.
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

// Guard allows this program to run as a guard process as well, which kills a plugin together with its
// descendants (Linux only). Call it first in main. In a guard process it does not return. Without
// Guard or [SetGuard], a shell supervises plugins, less reliably.
func Guard() { guard.Run() }

// SetGuard sets the path of another program that runs guards. A library for a program
// in another language provides the command plugins/internal/guard/cmd for this purpose.
func SetGuard(path string) { guard.SetExecutable(path) }
