package plugins

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scqm/scqm/plugins/protocol"
)

// The handshake. The cookie says that a program was started as a plugin; it is
// no secret.
const (
	protocolVersion = 1
	cookieKey       = "SCQM_PLUGIN_COOKIE"
	cookieValue     = "loss"
	socketFolderKey = "PLUGIN_UNIX_SOCKET_DIR"
	pluginKind      = "loss" // in the terms of go-plugin
)

const (
	// window is the flow control window of the connection: a batch without
	// shared memory travels without waiting for acknowledgements.
	window = 64 << 20
	// buffer is the size of reads and writes on it.
	buffer = 1 << 20
)

// served registers the service with go-plugin.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	service protocol.LossServer
}

// GRPCServer registers the service.
func (s served) GRPCServer(_ *goplugin.GRPCBroker, to *grpc.Server) error {
	protocol.RegisterLossServer(to, s.service)
	return nil
}

// GRPCClient gives the client of the service.
func (served) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewLossClient(conn), nil
}
