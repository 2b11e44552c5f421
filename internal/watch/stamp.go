package watch

import (
	"encoding/binary"
	"io/fs"
)

// appendStamp appends what changes when a file does: size, time, and where the system has it the identity, which tells
// that another file was put in its place.
func appendStamp(b []byte, info fs.FileInfo) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(info.Size()))
	b = binary.LittleEndian.AppendUint64(b, uint64(info.ModTime().UnixNano()))
	return binary.LittleEndian.AppendUint64(b, identity(info))
}
