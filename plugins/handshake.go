package plugins

import (
	"context"

	goplugin "github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"

	"github.com/scqm/scqm/plugins/protocol"
)

// The constants of the handshake. The cookie tells a program that it was started as a
// plugin. It is not a secret.
const (
	protocolVersion = 1
	cookieKey       = "SCQM_PLUGIN_COOKIE"
	cookieValue     = "loss"
	socketFolderKey = "PLUGIN_UNIX_SOCKET_DIR"
	pluginKind      = "loss" // name of the service in go-plugin
)

const (
	// window is the flow-control window of the connection. It is large enough to send a
	// batch without waiting for acknowledgements.
	window = 64 << 20
	// buffer is the size of the read and write buffers of the connection.
	buffer = 1 << 20
)

// served registers the service with go-plugin.
type served struct {
	goplugin.NetRPCUnsupportedPlugin
	service protocol.LossServer
}

// GRPCServer registers the service on the gRPC server.
func (s served) GRPCServer(_ *goplugin.GRPCBroker, to *grpc.Server) error {
	protocol.RegisterLossServer(to, s.service)
	return nil
}

// GRPCClient returns a client of the service.
func (served) GRPCClient(_ context.Context, _ *goplugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return protocol.NewLossClient(conn), nil
}
