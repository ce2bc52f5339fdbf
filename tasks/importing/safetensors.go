package importing

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math/bits"
)

// safetensorsTypes maps the types of safetensors to those of PyTorch.
var safetensorsTypes = map[string]string{
	"F64": "float64", "F32": "float32", "F16": "float16", "BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn",
	"F8_E5M2": "float8_e5m2", "I64": "int64", "I32": "int32", "I16": "int16", "I8": "int8", "U8": "uint8", "BOOL": "bool",
}

// readTensor returns the bytes and the shape of a tensor in a safetensors file: eight bytes with the length of a JSON
// header, the header, and the data. It checks every size against the file.
func readTensor(file []byte, key, dtype string) (data []byte, shape []int, err error) {
	if len(file) < 8 {
		return nil, nil, errors.New("is too short for a safetensors file")
	}
	length, rest := binary.LittleEndian.Uint64(file), file[8:]
	if length > uint64(len(rest)) {
		return nil, nil, fmt.Errorf("states a header of %d bytes, and has %d bytes", length, len(rest))
	}
	var header map[string]json.RawMessage
	if err := json.Unmarshal(rest[:length], &header); err != nil {
		return nil, nil, fmt.Errorf("has no readable header: %w", err)
	}
	rest = rest[length:]
	if header[key] == nil {
		return nil, nil, fmt.Errorf("has no tensor %q", key)
	}
	var one struct {
		DType   string    `json:"dtype"`
		Shape   []int     `json:"shape"`
		Offsets [2]uint64 `json:"data_offsets"`
	}
	if err := json.Unmarshal(header[key], &one); err != nil {
		return nil, nil, fmt.Errorf("describes %q in another form: %w", key, err)
	}
	if safetensorsTypes[one.DType] != dtype {
		return nil, nil, fmt.Errorf("has %q as %s, and the definition as %s", key, one.DType, dtype)
	}
	size := uint64(dtypeSizes[dtype])
	for _, n := range one.Shape {
		high, low := bits.Mul64(size, uint64(n))
		if n < 0 || high > 0 {
			return nil, nil, fmt.Errorf("states an impossible shape of %q", key)
		}
		size = low
	}
	begin, end := one.Offsets[0], one.Offsets[1]
	if begin > end || end > uint64(len(rest)) || end-begin != size {
		return nil, nil, fmt.Errorf("states that %q takes %d bytes at %d to %d, and has %d bytes of data",
			key, size, begin, end, len(rest))
	}
	return rest[begin:end], one.Shape, nil
}

// compressData compresses the data of a stored input with zlib.
func compressData(data []byte) []byte {
	var out bytes.Buffer
	w := zlib.NewWriter(&out)
	_, _ = w.Write(data) // cannot fail: the writer is a buffer in memory
	_ = w.Close()
	return out.Bytes()
}

func isMissingFile(err error) bool { return errors.Is(err, fs.ErrNotExist) }
