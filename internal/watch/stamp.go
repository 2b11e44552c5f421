package watch

import (
	"encoding/binary"
	"io/fs"
)

// appendStamp appends metadata that changes with a file: size, modification time and, where available, its inode
// number, which detects replacement by another file.
func appendStamp(b []byte, info fs.FileInfo) []byte {
	b = binary.LittleEndian.AppendUint64(b, uint64(info.Size()))
	b = binary.LittleEndian.AppendUint64(b, uint64(info.ModTime().UnixNano()))
	return binary.LittleEndian.AppendUint64(b, identity(info))
}
