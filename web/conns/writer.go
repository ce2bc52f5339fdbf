package conns

import (
	"bufio"
	"net"
	"strconv"
	"time"
)

const (
	writeBufferBytes = 2 << 10
	WriteTimeout     = 10 * time.Second // a reader that accepts nothing for this long has left
)

// Writer writes the body of a stream to one client. NewWriter sends the response header.
type Writer struct {
	*bufio.Writer
	chunks *chunkWriter
}

// NewWriter sends the response header (head) at once. Flush sends later data.
func NewWriter(conn net.Conn, head []byte, inChunks bool) *Writer {
	w := &chunkWriter{conn: conn, withoutChunks: true}
	out := &Writer{Writer: bufio.NewWriterSize(w, writeBufferBytes), chunks: w}
	w.Write(head) // an error recurs at the next write
	w.withoutChunks = !inChunks
	return out
}

// Finish sends the buffered data, and the final chunk of a chunked response.
func (o *Writer) Finish() {
	if o.Flush() == nil && !o.chunks.withoutChunks {
		o.chunks.withoutChunks = true
		o.chunks.Write([]byte("0\r\n\r\n"))
	}
}

// chunkWriter writes to a connection, with a new deadline for each write. It uses HTTP chunks unless the request was
// HTTP/1.0.
type chunkWriter struct {
	conn          net.Conn
	withoutChunks bool
}

// Write sends p with a new deadline.
func (w *chunkWriter) Write(p []byte) (int, error) {
	w.conn.SetWriteDeadline(time.Now().Add(WriteTimeout))
	if w.withoutChunks || len(p) == 0 {
		return w.conn.Write(p)
	}
	chunk := make([]byte, 0, len(p)+12)
	chunk = append(strconv.AppendInt(chunk, int64(len(p)), 16), "\r\n"...)
	chunk = append(append(chunk, p...), "\r\n"...)
	if _, err := w.conn.Write(chunk); err != nil {
		return 0, err
	}
	return len(p), nil
}
