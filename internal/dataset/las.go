package dataset

import (
	"bytes"
	"encoding/binary"
	"io"
	"math"
)

// las is a file of the American Society for Photogrammetry and Remote Sensing: a
// header, records of variable length, the points, whose coordinates are whole numbers
// to be scaled, and perhaps more records.
//
// Source: ASPRS, LAS specification 1.4 - R15 (2019), and 1.0 to 1.3 before it.
type las struct {
	before        []byte // up to the points
	stride        int    // bytes of a point
	rows          []byte
	after         []byte
	format        int // of points
	minor         int // of the version
	scale, offset [3]float64
}

// Places in the header, and in points.
const (
	lasVersion, lasHeaderSize, lasPointsAt, lasRecords   = 24, 94, 96, 100
	lasFormat, lasStride, lasCount, lasByReturn          = 104, 105, 107, 111
	lasScale, lasOffset, lasBounds                       = 131, 155, 179
	lasWaveform, lasMoreAt, lasCount64, lasByReturn64    = 227, 235, 247, 255
	lasHeader, lasHeader3, lasHeader4, lasRecordHead     = 227, 235, 375, 54
	lasReturn, lasExtraID, lasDescriptor, lasDoubleValue = 14, 4, 192, 10
)

// lasSizes are the bytes of a point of every format, beside extra ones.
var lasSizes = [...]int{20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67}

// newLAS is a file of n points and nothing else, in steps of the nearest power of ten
// below 2^-30 of the span.
func newLAS(points *Matrix) *las {
	f := &las{stride: lasSizes[0], rows: make([]byte, points.Rows*lasSizes[0]), minor: 2}
	h := make([]byte, lasHeader)
	copy(h, "LASF")
	h[lasVersion], h[lasVersion+1] = 1, 2
	copy(h[58:90], "scqm")
	order := binary.LittleEndian
	order.PutUint16(h[lasHeaderSize:], lasHeader)
	order.PutUint32(h[lasPointsAt:], lasHeader)
	order.PutUint16(h[lasStride:], uint16(f.stride))
	for k := range 3 {
		low, high := points.Row(0)[k], points.Row(0)[k]
		for i := range points.Rows {
			low, high = min(low, points.Row(i)[k]), max(high, points.Row(i)[k])
		}
		size := max(high-low, math.Abs(low)*1e-9, 1e-290)
		f.scale[k] = math.Pow(10, math.Ceil(math.Log10(size)-30*math.Log10(2)))
		f.offset[k] = low/2 + high/2
		order.PutUint64(h[lasScale+8*k:], math.Float64bits(f.scale[k]))
		order.PutUint64(h[lasOffset+8*k:], math.Float64bits(f.offset[k]))
	}
	for i := range points.Rows { // each point the first and only return of its pulse
		f.rows[i*f.stride+lasReturn] = 1 | 1<<3
	}
	f.before = h
	f.count(points.Rows)
	return f
}

func readLAS(text []byte) (*PointCloud, error) {
	f := &las{}
	points, err := f.readHeader(text)
	if err != nil {
		return nil, err
	}
	at := len(f.before)
	if (len(text)-at)/f.stride < points {
		return nil, inputErrorf(ErrTruncated, "the file ends early, in point %d of %d; copy or download it again", (len(text)-at)/f.stride, points)
	}
	f.rows, f.after = text[at:at+points*f.stride], text[at+points*f.stride:]
	if err := checkMemory("points of the file", 24*float64(points)); err != nil {
		return nil, err
	}
	m := &Matrix{Rows: points, Cols: 3, Names: []string{"x", "y", "z"}, Data: make([]float64, 0, 3*points)}
	for i := range points {
		row := f.rows[i*f.stride:]
		for k := range 3 {
			whole := int32(binary.LittleEndian.Uint32(row[4*k:]))
			m.Data = append(m.Data, float64(whole)*f.scale[k]+f.offset[k])
		}
	}
	return &PointCloud{Points: m, format: formatLAS, layout: f}, nil
}

// readHeader keeps all that is before the points, and checks what they need.
func (f *las) readHeader(text []byte) (points int, err error) {
	if !bytes.HasPrefix(text, []byte("LASF")) {
		return 0, inputErrorf(ErrFormat, "is not a LAS file: %s", resemblance(text[:min(8, len(text))]))
	}
	if len(text) < lasHeader {
		return 0, inputErrorf(ErrTruncated, "the file ends early, in its header; copy or download it again")
	}
	order := binary.LittleEndian
	major := int(text[lasVersion])
	f.minor = int(text[lasVersion+1])
	size, at := int(order.Uint16(text[lasHeaderSize:])), int(order.Uint32(text[lasPointsAt:]))
	least := lasHeader
	switch {
	case f.minor == 3:
		least = lasHeader3
	case f.minor == 4:
		least = lasHeader4
	}
	f.format, f.stride = int(text[lasFormat]), int(order.Uint16(text[lasStride:]))
	switch {
	case major != 1 || f.minor > 4:
		return 0, inputErrorf(ErrFormat, "is LAS %d.%d; 1.0 to 1.4 are read", major, f.minor)
	case size < least || at < size || at > len(text):
		return 0, inputErrorf(ErrTruncated, "the header has %d bytes and points begin at %d, in a file of %d; copy or download it again", size, at, len(text))
	case f.format >= 64:
		return 0, inputErrorf(ErrFormat, "is compressed (LAZ); uncompress it with laszip, or read it in Python with scqm.datasets.read_las and laspy")
	case f.format >= len(lasSizes):
		return 0, inputErrorf(ErrFormat, "has points of format %d; 0 to 10 are read", f.format)
	case f.stride < lasSizes[f.format]:
		return 0, inputErrorf(ErrFormat, "has points of %d bytes; format %d has at least %d", f.stride, f.format, lasSizes[f.format])
	}
	f.before = text[:at]
	count := uint64(order.Uint32(text[lasCount:]))
	if f.minor == 4 {
		if long := order.Uint64(text[lasCount64:]); long > 0 || count == 0 {
			count = long
		}
	}
	switch {
	case count == 0:
		return 0, inputErrorf(ErrShape, "holds no points")
	case count > uint64(len(text)):
		return 0, inputErrorf(ErrTruncated, "%d points in a file of %d bytes; copy or download it again", count, len(text))
	}
	for k := range 3 {
		f.scale[k] = math.Float64frombits(order.Uint64(text[lasScale+8*k:]))
		f.offset[k] = math.Float64frombits(order.Uint64(text[lasOffset+8*k:]))
		far := math.Abs(f.scale[k])*math.MaxInt32 + math.Abs(f.offset[k])
		if f.scale[k] == 0 || math.IsNaN(far) || math.IsInf(far, 0) {
			return 0, inputErrorf(ErrNonFinite, "the header scales %s by %v and adds %v", "xyz"[k:k+1], f.scale[k], f.offset[k])
		}
	}
	return int(count), nil
}

// normals are none: the format has no place for them.
func (f *las) normals() []float64 { return nil }

func (f *las) only(list []int) (layout, error) {
	some := *f
	some.rows = make([]byte, 0, len(list)*f.stride)
	for _, i := range list {
		some.rows = append(some.rows, f.rows[i*f.stride:(i+1)*f.stride]...)
	}
	some.before = bytes.Clone(f.before)
	some.count(len(list))
	return &some, nil
}

// count writes how many points there are, and of each return, into the header.
func (f *las) count(points int) {
	order := binary.LittleEndian
	var returns [15]uint64
	mask := byte(7)
	if f.format >= 6 {
		mask = 15
	}
	for at := 0; at < len(f.rows); at += f.stride {
		if r := f.rows[at+lasReturn] & mask; r > 0 {
			returns[r-1]++
		}
	}
	legacy := f.format < 6 && uint64(points) <= math.MaxUint32
	if legacy {
		order.PutUint32(f.before[lasCount:], uint32(points))
		for k := range 5 {
			order.PutUint32(f.before[lasByReturn+4*k:], uint32(returns[k]))
		}
	}
	if f.minor == 4 {
		order.PutUint64(f.before[lasCount64:], uint64(points))
		for k, n := range returns {
			order.PutUint64(f.before[lasByReturn64+8*k:], n)
		}
	}
}

func (f *las) write(w io.Writer, points, more *Matrix) error {
	before, err := f.head(more)
	if err != nil {
		return err
	}
	rows, err := f.quantise(before, points)
	if err != nil {
		return err
	}
	if _, err := w.Write(before); err != nil {
		return err
	}
	var out []byte
	for i := range points.Rows {
		out = append(out[:0], f.rows[i*f.stride:(i+1)*f.stride]...)
		for k := range 3 {
			binary.LittleEndian.PutUint32(out[4*k:], uint32(rows[3*i+k]))
		}
		if more != nil {
			for _, v := range more.Row(i) {
				out = appendOrdered(out, binary.LittleEndian, math.Float64bits(v))
			}
		}
		if _, err := w.Write(out); err != nil {
			return err
		}
	}
	_, err = w.Write(f.after)
	return err
}

// quantise returns the whole numbers of the coordinates, and writes their bounds into
// a header.
func (f *las) quantise(before []byte, points *Matrix) ([]int32, error) {
	whole := make([]int32, 0, len(points.Data))
	low, high := [3]float64{}, [3]float64{}
	for k := range 3 {
		low[k], high[k] = math.Inf(1), math.Inf(-1)
	}
	for i := range points.Rows {
		for k, x := range points.Row(i) {
			v := math.Round((x - f.offset[k]) / f.scale[k])
			if !(math.Abs(v) <= math.MaxInt32) {
				return nil, inputErrorf(ErrNonFinite, "point %d (counting from 0): %s = %v is beyond the whole numbers of the file, in steps of %v from %v", i, "xyz"[k:k+1], x, f.scale[k], f.offset[k])
			}
			whole = append(whole, int32(v))
			v = v*f.scale[k] + f.offset[k]
			low[k], high[k] = min(low[k], v), max(high[k], v)
		}
	}
	for k := range 3 {
		binary.LittleEndian.PutUint64(before[lasBounds+16*k:], math.Float64bits(high[k]))
		binary.LittleEndian.PutUint64(before[lasBounds+16*k+8:], math.Float64bits(low[k]))
	}
	return whole, nil
}

// head is a copy of what is before the points, with a record that describes more
// columns as extra bytes of points, and what it moves.
func (f *las) head(more *Matrix) ([]byte, error) {
	before := bytes.Clone(f.before)
	if more == nil {
		return before, nil
	}
	order := binary.LittleEndian
	stride := f.stride + 8*more.Cols
	if stride > math.MaxUint16 {
		return nil, inputErrorf(ErrShape, "a point of %d bytes; leave columns out", stride)
	}
	var described []byte
	begin, end, found := f.extraRecord()
	if extra := f.stride - lasSizes[f.format]; !found && extra > 0 { // bytes that nothing describes
		if extra > math.MaxUint8 {
			return nil, inputErrorf(ErrFormat, "points have %d bytes that no record describes, and no room for more; write .csv or .ply", extra)
		}
		described = append(described, lasExtra(0, byte(extra), "unknown")...)
	}
	for _, name := range more.Names {
		described = append(described, lasExtra(lasDoubleValue, 0, name)...)
	}
	if !found {
		head := make([]byte, lasRecordHead)
		copy(head[2:], "LASF_Spec")
		order.PutUint16(head[18:], lasExtraID)
		described = append(head, described...)
		order.PutUint32(before[lasRecords:], order.Uint32(before[lasRecords:])+1)
		begin = end
	}
	grown := append(append(bytes.Clone(before[:end]), described...), before[end:]...)
	length := int(order.Uint16(grown[begin+20:])) + len(described)
	if !found {
		length -= lasRecordHead
	}
	if length > math.MaxUint16 {
		return nil, inputErrorf(ErrShape, "no room to describe more columns; leave some out")
	}
	order.PutUint16(grown[begin+20:], uint16(length))
	f.move(grown, len(described), stride)
	return grown, nil
}

// move writes where the points and what follows them are, after the header has
// grown by so many bytes and points to a stride.
func (f *las) move(header []byte, grown, stride int) {
	order := binary.LittleEndian
	order.PutUint32(header[lasPointsAt:], uint32(len(header)))
	order.PutUint16(header[lasStride:], uint16(stride))
	further := uint64(grown + len(f.rows)/f.stride*(stride-f.stride))
	if f.minor >= 3 {
		if v := order.Uint64(header[lasWaveform:]); v > 0 {
			order.PutUint64(header[lasWaveform:], v+further)
		}
	}
	if f.minor == 4 {
		if v := order.Uint64(header[lasMoreAt:]); v > 0 {
			order.PutUint64(header[lasMoreAt:], v+further)
		}
	}
}

// extraRecord finds the record that describes extra bytes, from its head to its end;
// where there is none, end is that of the last record.
func (f *las) extraRecord() (at, end int, found bool) {
	order := binary.LittleEndian
	end = int(order.Uint16(f.before[lasHeaderSize:]))
	for range order.Uint32(f.before[lasRecords:]) {
		if end+lasRecordHead > len(f.before) {
			break
		}
		next := end + lasRecordHead + int(order.Uint16(f.before[end+20:]))
		if next > len(f.before) {
			break
		}
		user := string(bytes.TrimRight(f.before[end+2:end+18], "\x00"))
		if at, end = end, next; user == "LASF_Spec" && order.Uint16(f.before[at+18:]) == lasExtraID {
			return at, end, true
		}
	}
	return 0, end, false
}

// lasExtra describes an extra value of a point.
func lasExtra(kind, options byte, name string) []byte {
	b := make([]byte, lasDescriptor)
	b[2], b[3] = kind, options
	copy(b[4:36], name)
	return b
}
