package dataset

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"
)

// las is the header of a file of the American Society for Photogrammetry and Remote
// Sensing, with its records of variable length. The coordinates of points are whole
// numbers to be scaled; more records may follow the points.
//
// Source: ASPRS, LAS specification 1.4 - R15 (2019), and 1.0 to 1.3 before it.
type las struct {
	header  []byte
	records [][]byte
	gap     []byte // bytes between the records and the points
	extra   int    // index of the record that describes extra bytes, -1 if there is none
	format  int    // point data record format
	minor   int    // minor version
	points  int
	end     uint64 // where the points end in the file
}

// Offsets of fields in the header and in points.
const (
	lasVersion, lasHeaderSize, lasPointsAt, lasRecords   = 24, 94, 96, 100
	lasFormat, lasStride, lasCount, lasByReturn          = 104, 105, 107, 111
	lasScale, lasOffset, lasBounds                       = 131, 155, 179
	lasWaveform, lasMoreAt, lasMore, lasCount64          = 227, 235, 243, 247
	lasByReturn64                                        = 255
	lasHeader, lasHeader3, lasHeader4                    = 227, 235, 375
	lasRecordHead, lasLongHead, lasLength                = 54, 60, 20
	lasReturn, lasExtraID, lasDescriptor, lasDoubleValue = 14, 4, 192, 10
	lasScaled, lasUntyped                                = 8 | 16, 7
)

// lasSizes are the sizes in bytes of a point of each format without extra bytes. A point
// begins with its coordinates.
var lasSizes = [...]int{20, 28, 26, 34, 57, 63, 30, 36, 38, 59, 67}

const lasXYZ = 12

// lasTypes are the types of extra values by type code. A code 10 higher means a pair of
// values, 20 higher a triple.
var lasTypes = [...]numeric{{'U', 1}, {'U', 1}, {'I', 1}, {'U', 2}, {'I', 2}, {'U', 4}, {'I', 4}, {'U', 8}, {'I', 8}, {'F', 4}, {'F', 8}}

// newLAS makes the header of a file with only points. Their step is the nearest power of ten below
// 2^-30 of the span. It returns a template of a point: the first and only return of its pulse.
func (c *PointCloud) newLAS(points *Matrix) (point []byte) {
	h := &las{header: make([]byte, lasHeader), minor: 2, extra: -1}
	copy(h.header, "LASF")
	h.header[lasVersion], h.header[lasVersion+1] = 1, 2
	copy(h.header[58:90], "scqm")
	binary.LittleEndian.PutUint16(h.header[lasHeaderSize:], lasHeader)
	for k := range 3 {
		low, high := points.Row(0)[k], points.Row(0)[k]
		for i := range points.Rows {
			low, high = min(low, points.Row(i)[k]), max(high, points.Row(i)[k])
		}
		size := max(high-low, math.Abs(low)*1e-9, 1e-290)
		putFloat(h.header[lasScale+8*k:], math.Pow(10, math.Ceil(math.Log10(size)-30*math.Log10(2))))
		putFloat(h.header[lasOffset+8*k:], low/2+high/2)
	}
	c.header, c.fields = h, h.fields()
	point = make([]byte, lasSizes[0])
	point[lasReturn] = 1 | 1<<3
	return point
}

func putFloat(b []byte, v float64) { binary.LittleEndian.PutUint64(b, math.Float64bits(v)) }

// fields returns the fields that all points have.
func (h *las) fields() []field {
	var fields []field
	for k, axis := range axes {
		f := field{name: axis, numeric: numeric{'I', 4}, count: 1}
		f.scale = math.Float64frombits(binary.LittleEndian.Uint64(h.header[lasScale+8*k:]))
		f.offset = math.Float64frombits(binary.LittleEndian.Uint64(h.header[lasOffset+8*k:]))
		fields = append(fields, f)
	}
	return append(fields, field{numeric: lasTypes[0], count: lasSizes[h.format] - lasXYZ})
}

func (c *PointCloud) readLAS(text []byte) error {
	h := &las{extra: -1}
	count, body, err := h.read(text)
	if err != nil {
		return err
	}
	c.header, c.order, c.fields = h, binary.LittleEndian, h.fields()
	stride := int(binary.LittleEndian.Uint16(h.header[lasStride:]))
	extra, err := h.extraFields(stride - lasSizes[h.format])
	if err != nil {
		return err
	}
	c.fields = append(c.fields, extra...)
	if c.after, err = c.take(body, count, "point"); err != nil {
		return err
	}
	h.points, h.end = count, uint64(len(text)-len(c.after))
	return h.checkAfter(c.after)
}

// read reads the header and all else before the points. It returns the number of points and the rest.
func (h *las) read(text []byte) (points int, body []byte, err error) {
	if !bytes.HasPrefix(text, []byte("LASF")) {
		return 0, nil, inputErrorf(ErrFormat, "is not a LAS file: %s", resemblance(text[:min(8, len(text))]))
	}
	if len(text) < lasHeader {
		return 0, nil, inputErrorf(ErrTruncated, "the file ends early, in its header; copy or download it again")
	}
	order := binary.LittleEndian
	h.minor = int(text[lasVersion+1])
	size, at := int(order.Uint16(text[lasHeaderSize:])), int(order.Uint32(text[lasPointsAt:]))
	least := lasHeader
	switch h.minor {
	case 3:
		least = lasHeader3
	case 4:
		least = lasHeader4
	}
	h.format = int(text[lasFormat])
	stride := int(order.Uint16(text[lasStride:]))
	switch {
	case text[lasVersion] != 1 || h.minor > 4:
		return 0, nil, inputErrorf(ErrFormat, "is LAS %d.%d; 1.0 to 1.4 are read", text[lasVersion], h.minor)
	case size < least || at < size || at > len(text):
		return 0, nil, inputErrorf(ErrTruncated, "the header has %d bytes and points begin at %d, in a file of %d; copy or download it again", size, at, len(text))
	case h.format >= 64:
		return 0, nil, inputErrorf(ErrFormat, "is compressed (LAZ); uncompress it with laszip, or read it in Python with scqm.datasets.read_las and laspy")
	case h.format >= len(lasSizes):
		return 0, nil, inputErrorf(ErrFormat, "has points of format %d; 0 to 10 are read", h.format)
	case stride < lasSizes[h.format]:
		return 0, nil, inputErrorf(ErrFormat, "has points of %d bytes; format %d has at least %d", stride, h.format, lasSizes[h.format])
	}
	h.header = text[:size]
	if err := h.readRecords(text[size:at]); err != nil {
		return 0, nil, err
	}
	for k := range 3 {
		f := h.fields()[k]
		far := math.Abs(f.scale)*math.MaxInt32 + math.Abs(f.offset)
		if f.scale == 0 || far-far != 0 {
			return 0, nil, inputErrorf(ErrNonFinite, "the header scales %s by %v and adds %v", f.name, f.scale, f.offset)
		}
	}
	count := uint64(order.Uint32(text[lasCount:]))
	if h.minor == 4 {
		short := count
		if count = order.Uint64(text[lasCount64:]); short > 0 && short != count {
			return 0, nil, inputErrorf(ErrShape, "the header counts %d points and %d; correct it", short, count)
		}
	}
	if have := (len(text) - at) / stride; count > uint64(have) {
		return 0, nil, inputErrorf(ErrTruncated, "the file ends early, in point %d of %d; copy or download it again", have, count)
	}
	return int(count), text[at:], nil
}

// readRecords splits the bytes between the header and the points into records.
func (h *las) readRecords(text []byte) error {
	for k := range binary.LittleEndian.Uint32(h.header[lasRecords:]) {
		if len(text) < lasRecordHead {
			return errEnds()
		}
		end := lasRecordHead + int(binary.LittleEndian.Uint16(text[lasLength:]))
		if end > len(text) {
			return inputErrorf(ErrTruncated, "record %d (counting from 0) has %d bytes, %d are left; copy or download the file again", k, end, len(text))
		}
		user, _, _ := bytes.Cut(text[2:lasLength-2], []byte{0})
		if !utf8.Valid(user) {
			return inputErrorf(ErrFormat, "record %d (counting from 0) belongs to %s, which is no text; copy or download the file again", k, shortQuote(string(user)))
		}
		if h.extra < 0 && string(user) == "LASF_Spec" && binary.LittleEndian.Uint16(text[lasLength-2:]) == lasExtraID {
			if h.extra = len(h.records); (end-lasRecordHead)%lasDescriptor != 0 {
				return inputErrorf(ErrFormat, "record %d (counting from 0) describes extra bytes by %d each, not in %d bytes; copy or download the file again", k, lasDescriptor, end-lasRecordHead)
			}
		}
		h.records, text = append(h.records, text[:end:end]), text[end:]
	}
	h.gap = text
	return nil
}

// checkAfter returns an error if the bytes after the points are neither records counted in
// the header nor waveforms.
func (h *las) checkAfter(after []byte) error {
	order := binary.LittleEndian
	var begin uint64
	var more uint32
	if h.minor == 4 {
		begin, more = order.Uint64(h.header[lasMoreAt:]), order.Uint32(h.header[lasMore:])
	}
	if h.minor >= 3 && more == 0 && len(after) > 0 {
		begin = order.Uint64(h.header[lasWaveform:])
	}
	if more == 0 && (begin == 0 || len(after) == 0) {
		return checkRest(after)
	}
	if begin != h.end {
		return inputErrorf(ErrFormat, "records after the points begin at %d of the file, where the points end at %d; correct the header", begin, h.end)
	}
	for k := range more {
		if len(after) < lasLongHead || order.Uint64(after[lasLength:]) > uint64(len(after)-lasLongHead) {
			return inputErrorf(ErrTruncated, "the file ends early, in record %d of %d after the points; copy or download it again", k, more)
		}
		if user, _, _ := bytes.Cut(after[2:lasLength-2], []byte{0}); !utf8.Valid(user) {
			return inputErrorf(ErrFormat, "record %d after the points belongs to %s, which is no text; copy or download the file again", k, shortQuote(string(user)))
		}
		after = after[lasLongHead+order.Uint64(after[lasLength:]):]
	}
	if more == 0 { // waveforms
		return nil
	}
	return checkRest(after)
}

// extraFields returns fields for the extra bytes of a point. Bytes that no record
// describes become fields without a name.
func (h *las) extraFields(extra int) (fields []field, err error) {
	if extra == 0 {
		return nil, nil
	}
	seen := map[string]bool{"": true}
	for _, d := range h.descriptors() {
		f := field{name: lasText(d, 4), count: 1, scaled: d[3]&lasScaled != 0}
		switch kind := int(d[2]); {
		case kind == 0:
			f.numeric, f.count = lasTypes[0], int(d[3])
		case kind <= 3*lasDoubleValue:
			f.numeric, f.count = lasTypes[(kind-1)%lasDoubleValue+1], (kind-1)/lasDoubleValue+1
		}
		// Other readers take these options for a scale and an offset in any case.
		if f.bytes() == 0 || d[2] == 0 && d[3]&lasScaled != 0 || seen[f.name] || !utf8.ValidString(f.name+lasText(d, lasDescriptor-lasTextBytes)) {
			return nil, inputErrorf(ErrFormat, "extra bytes %s are of type %d with options %d, or there twice; correct the record that describes them", shortQuote(f.name), d[2], d[3])
		}
		seen[f.name] = true
		fields, extra = append(fields, f), extra-f.bytes()
	}
	if extra < 0 {
		return nil, inputErrorf(ErrFormat, "a record describes more extra bytes than points have, by %d; correct it", -extra)
	}
	if extra > 0 {
		fields = append(fields, field{numeric: lasTypes[0], count: extra})
	}
	return fields, nil
}

// descriptors returns the descriptions of the extra bytes.
func (h *las) descriptors() (list [][]byte) {
	if h.extra >= 0 {
		for d := h.records[h.extra][lasRecordHead:]; len(d) >= lasDescriptor; d = d[lasDescriptor:] {
			list = append(list, d[:lasDescriptor])
		}
	}
	return list
}

const lasTextBytes = 32

// lasText returns the text at an offset of a descriptor.
func lasText(d []byte, at int) string {
	text, _, _ := bytes.Cut(d[at:at+lasTextBytes], []byte{0})
	return string(text)
}

// lasExtra returns the descriptor of an extra value of a point.
func lasExtra(kind, options byte, name string) []byte {
	b := make([]byte, lasDescriptor)
	b[2], b[3] = kind, options
	copy(b[4:4+lasTextBytes], name)
	return b
}

// describe returns the records, in which one describes the extra bytes of these fields.
func (h *las) describe(c *PointCloud, fields []field) ([][]byte, error) {
	own := len(h.fields())
	if slices.Equal(fields, c.fields) {
		return h.records, nil
	}
	described := make([]byte, lasRecordHead)
	copy(described[2:], "LASF_Spec")
	binary.LittleEndian.PutUint16(described[lasLength-2:], lasExtraID)
	old, records, at := h.descriptors(), slices.Clone(h.records), h.extra
	if at < 0 {
		at, records = len(records), append(records, nil)
	} else {
		copy(described, records[at][:lasRecordHead])
	}
	for i, f := range fields[own:] {
		switch changed := own+i >= len(c.fields) || f != c.fields[own+i]; {
		case changed && len(f.name) > lasTextBytes:
			return nil, inputErrorf(ErrShape, "the name of the column %s is longer than 32 bytes", shortQuote(f.name))
		case changed:
			described = append(described, lasExtra(lasDoubleValue, 0, f.name)...)
		case f.name != "":
			described = append(described, old[i]...)
		}
		for k, left := 0, f.count; f.name == "" && left > 0; k, left = k+1, left-lasUntyped {
			described = append(described, lasExtra(0, byte(min(left, lasUntyped)), fmt.Sprintf("undescribed_%d", k))...)
		}
	}
	length := len(described) - lasRecordHead
	if length > math.MaxUint16 {
		return nil, inputErrorf(ErrShape, "no room to describe more columns; leave some out")
	}
	binary.LittleEndian.PutUint16(described[lasLength:], uint16(length))
	records[at] = described
	return records, nil
}

func (h *las) head(c *PointCloud, fields []field, points *Matrix) ([]byte, error) {
	order := binary.LittleEndian
	records, err := h.describe(c, fields)
	if err != nil {
		return nil, err
	}
	stride := 0
	for _, f := range fields {
		stride += f.bytes()
	}
	if stride > math.MaxUint16 {
		return nil, inputErrorf(ErrShape, "a point of %d bytes; leave columns out", stride)
	}
	head := slices.Concat(h.header, bytes.Join(records, nil), h.gap)
	order.PutUint16(head[lasHeaderSize:], uint16(len(h.header)))
	order.PutUint32(head[lasPointsAt:], uint32(len(head)))
	order.PutUint32(head[lasRecords:], uint32(len(records)))
	order.PutUint16(head[lasStride:], uint16(stride))
	end := uint64(len(head)) + uint64(stride)*uint64(points.Rows)
	for minor, at := range map[int]int{3: lasWaveform, 4: lasMoreAt} {
		if h.minor >= minor && order.Uint64(head[at:]) >= h.end {
			order.PutUint64(head[at:], order.Uint64(head[at:])-h.end+end)
		}
	}
	for k, f := range fields[:len(axes)] {
		low, high := math.Inf(1), math.Inf(-1)
		for i := range points.Rows {
			v := math.Round((points.Row(i)[k]-f.offset)/f.scale)*f.scale + f.offset
			low, high = min(low, v), max(high, v)
		}
		putFloat(head[lasBounds+16*k:], high)
		putFloat(head[lasBounds+16*k+8:], low)
	}
	if points.Rows != h.points {
		h.count(head, c)
	}
	return head, nil
}

// count writes into a header the number of points, in total and by return number.
func (h *las) count(head []byte, c *PointCloud) {
	order := binary.LittleEndian
	var returns [16]uint64
	mask := byte(7)
	if h.format >= 6 {
		mask = 15
	}
	for _, end := range c.ends {
		stride := c.ends[0]
		returns[c.body[end-stride+lasReturn]&mask]++
	}
	if h.minor < 4 || order.Uint32(head[lasCount:]) > 0 {
		order.PutUint32(head[lasCount:], uint32(len(c.ends)))
		for k := range 5 {
			order.PutUint32(head[lasByReturn+4*k:], uint32(returns[k+1]))
		}
	}
	if h.minor == 4 {
		order.PutUint64(head[lasCount64:], uint64(len(c.ends)))
		for k, n := range returns[1:] {
			order.PutUint64(head[lasByReturn64+8*k:], n)
		}
	}
}
