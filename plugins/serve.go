package plugins

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/hashicorp/go-hclog"
	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scqm/scqm/framework"
	"github.com/scqm/scqm/plugins/internal/frame"
	"github.com/scqm/scqm/plugins/protocol"
)

// watchInterval is how often a plugin looks whether its host is still there.
const watchInterval = 200 * time.Millisecond

// Serve serves a loss to the program that started this one. It returns when
// that program asks for it and ends the process when that program is gone; main
// calls it and nothing else. [Radial] and [Separable] make losses of functions
// of one number.
//
// If the loss, or its form, is a pointer to a struct, its exported fields of type float64,
// int, bool and string are its parameters, and their values the defaults. Tags
// say more:
//
//	C float64 `json:"c" doc:"norm of a full outlier" above:"0"`
//
// json gives the name, doc the meaning; min, max, above and below are bounds,
// the last two exclusive. Before it is used, a copy of the loss gets the
// parameters that the user chose, and its Validate method is asked, if it has
// one.
//
// The plugin offers the optional interfaces of package framework that the loss
// implements, except Quadratic. What the program prints goes to its host's log.
func Serve(l framework.Loss) {
	s, err := newService(l)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	framed, err := withFrames(s)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	serve(framed)
}

func serve(s protocol.LossServer) {
	go watchHost()
	goplugin.Serve(&goplugin.ServeConfig{
		HandshakeConfig:  goplugin.HandshakeConfig{MagicCookieKey: cookieKey, MagicCookieValue: cookieValue},
		VersionedPlugins: map[int]goplugin.PluginSet{protocolVersion: {pluginKind: served{service: s}}},
		GRPCServer: func(o []grpc.ServerOption) *grpc.Server {
			return grpc.NewServer(append(o,
				grpc.MaxRecvMsgSize(maxMessage), grpc.MaxSendMsgSize(maxMessage),
				grpc.InitialWindowSize(window), grpc.InitialConnWindowSize(window),
				grpc.ReadBufferSize(buffer), grpc.WriteBufferSize(buffer))...)
		},
		Logger: hclog.New(&hclog.LoggerOptions{Level: hclog.Warn, Output: os.Stderr, JSONFormat: true}),
	})
}

// watchHost ends the process when its parent is not the one that started it any
// more. SCQM takes care of that itself; other hosts may not.
func watchHost() {
	for parent := os.Getppid(); parent > 1 && os.Getppid() == parent; {
		time.Sleep(watchInterval)
	}
	os.Exit(1)
}

// framed is a service that answers calls of Evaluate in frames too.
type framed struct {
	protocol.LossServer
	path string // of the socket
}

// withFrames opens a socket for frames beside that of gRPC. Hosts of other makers
// may give no folder for it; then there is none.
func withFrames(s protocol.LossServer) (protocol.LossServer, error) {
	folder := os.Getenv(socketFolderKey)
	if folder == "" {
		return s, nil
	}
	f := &framed{s, filepath.Join(folder, "frame.sock")}
	if err := frame.Listen(f.path, s.Evaluate); err != nil {
		return nil, fmt.Errorf("plugins: serve: %w", err)
	}
	return f, nil
}

// Configure adds where the socket is.
func (f *framed) Configure(ctx context.Context, request *protocol.ConfigureRequest) (*protocol.ConfigureResponse, error) {
	reply, err := f.LossServer.Configure(ctx, request)
	if err == nil {
		reply.FrameSocket = f.path
	}
	return reply, err
}
