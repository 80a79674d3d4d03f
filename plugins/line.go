package plugins

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	"github.com/scqm/scqm/plugins/internal/protocol"
)

// A line is a Unix socket that carries calls of Evaluate as frames, without
// gRPC: a call takes a quarter of the time. A request is its length and an
// EvaluateRequest; a reply is its length, a gRPC status, and an
// EvaluateResponse or, where the status is not 0, a sentence. Lengths, which
// count what follows the header, and statuses are 4 bytes, little-endian.
const (
	requestHeader = 4
	replyHeader   = 8
	// maxFrame bounds frames: arrays are in a segment.
	maxFrame = 64 << 10
)

// line is the host's end of a connection. One call at a time uses it.
type line struct {
	conn   net.Conn
	buffer []byte
}

// dial connects to the socket that the plugin names.
func dial(ctx context.Context, path string) (*line, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	return &line{conn: conn, buffer: make([]byte, 512)}, nil
}

// call makes a call until ctx is done. Its errors are gRPC statuses, as if it
// had come that way.
func (l *line) call(ctx context.Context, request *protocol.EvaluateRequest) (*protocol.EvaluateResponse, error) {
	deadline, _ := ctx.Deadline()
	if err := l.conn.SetDeadline(deadline); err != nil {
		return nil, lineError(err)
	}
	stop := context.AfterFunc(ctx, func() { l.conn.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	frame, err := proto.MarshalOptions{}.MarshalAppend(l.buffer[:requestHeader], request)
	if err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-requestHeader))
	if _, err := l.conn.Write(frame); err != nil {
		return nil, lineError(err)
	}
	return l.reply()
}

// reply reads the answer, mostly in one piece.
func (l *line) reply() (*protocol.EvaluateResponse, error) {
	n, err := io.ReadAtLeast(l.conn, l.buffer, replyHeader)
	if err != nil {
		return nil, lineError(err)
	}
	length := int(binary.LittleEndian.Uint32(l.buffer))
	code := codes.Code(binary.LittleEndian.Uint32(l.buffer[4:]))
	switch {
	case length > maxFrame:
		return nil, status.Errorf(codes.ResourceExhausted, "%d bytes on the line", length)
	case n > replyHeader+length:
		return nil, status.Error(codes.Internal, "more bytes on the line than it announced")
	case replyHeader+length > len(l.buffer):
		l.buffer = append(l.buffer, make([]byte, replyHeader+length-len(l.buffer))...)
	}
	body := l.buffer[replyHeader : replyHeader+length]
	if _, err := io.ReadFull(l.conn, body[n-replyHeader:]); err != nil {
		return nil, lineError(err)
	}
	if code != codes.OK {
		return nil, status.Error(code, strings.ToValidUTF8(string(body), "\ufffd"))
	}
	reply := &protocol.EvaluateResponse{}
	if err := proto.Unmarshal(body, reply); err != nil {
		return nil, status.Error(codes.Internal, err.Error())
	}
	return reply, nil
}

// lineError turns an error of the connection into the status that gRPC has for
// it.
func lineError(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) { // the latter of a dial
		return status.Error(codes.DeadlineExceeded, err.Error())
	}
	return status.Error(codes.Unavailable, err.Error())
}

func (l *line) close() {
	if l != nil {
		l.conn.Close()
	}
}

// checkLine insists on a socket in the folder that is closed to others.
func (p *process) checkLine(path string) error {
	if path == "" {
		return nil
	}
	if _, _, err := p.PluginToHost("unix", path); err != nil {
		return fmt.Errorf("its line: %w", err)
	}
	return nil
}
