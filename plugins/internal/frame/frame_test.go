package frame

import (
	"bytes"
	"context"
	"encoding/hex"
	"net"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/scqm/scqm/plugins/protocol"
)

// frames reads the example of the specification.
func frames(t *testing.T) (request, reply []byte) {
	t.Helper()
	text, err := os.ReadFile("../../../docs/plugin-protocol.md")
	require.NoError(t, err)
	found := regexp.MustCompile("(?s)request `([0-9a-f ]+)`,\\s+reply `([0-9a-f ]+)`").FindSubmatch(text)
	require.NotNil(t, found)
	for i, to := range []*[]byte{&request, &reply} {
		*to, err = hex.DecodeString(strings.ReplaceAll(string(found[i+1]), " ", ""))
		require.NoError(t, err)
	}
	return request, reply
}

var threeRows = &protocol.EvaluateRequest{
	Rows: 3, Dim: 2, Segment: 1,
	Want: []protocol.Quantity{protocol.Quantity_QUANTITY_VALUES, protocol.Quantity_QUANTITY_GRADIENTS},
}

// TestFramesAreThoseOfTheSpecification looks at both ends of a connection.
func TestFramesAreThoseOfTheSpecification(t *testing.T) {
	request, reply := frames(t)
	near, far := net.Pipe()
	defer near.Close()
	heard := make(chan []byte, 1)
	go func() {
		defer far.Close()
		got := make([]byte, 512)
		n, _ := far.Read(got)
		heard <- got[:n]
		for _, b := range reply { // in as many pieces as there can be
			far.Write([]byte{b})
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	c := &Conn{conn: near, buffer: make([]byte, firstBuffer)}
	answered, err := c.Call(ctx, threeRows)
	require.NoError(t, err)
	assert.Equal(t, uint64(3), answered.Rows)
	assert.Equal(t, request, <-heard)

	buffer := make([]byte, requestHeader) // one that must grow
	got, err := readRequest(bytes.NewReader(request), &buffer)
	require.NoError(t, err)
	assert.Equal(t, threeRows.Want, got.Want)
	assert.Equal(t, uint32(1), got.Segment)
	var out bytes.Buffer
	buffer = make([]byte, replyHeader)
	require.NoError(t, writeReply(&out, &buffer, &protocol.EvaluateResponse{Rows: 3}, nil))
	assert.Equal(t, reply, out.Bytes())
}

// TestLongSentence sends more than fits the first read.
func TestLongSentence(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	go func() {
		defer far.Close()
		buffer := make([]byte, 512)
		if _, err := readRequest(far, &buffer); err == nil {
			writeReply(far, &buffer, nil, status.Error(codes.Aborted, strings.Repeat("no ", 1000)))
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err := (&Conn{conn: near, buffer: make([]byte, firstBuffer)}).Call(ctx, threeRows)
	assert.Equal(t, codes.Aborted, status.Code(err))
	assert.Equal(t, strings.Repeat("no ", 1000), status.Convert(err).Message())
}
