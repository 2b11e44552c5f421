package body

import (
	"bytes"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"hash"
	"net/http"
	"strings"

	"herbarium/internal/herb"
)

// digests are the digests of a body that a client has stated.
type digests []*digest

type digest struct {
	name string
	want []byte
	sum  hash.Hash
}

// ParseDigests reads the Content-Digest header (RFC 9530). Algorithms that are not known are
// ignored, as the standard demands.
func ParseDigests(h http.Header) (all digests, err error) {
	for item := range strings.SplitSeq(strings.Join(h["Content-Digest"], ","), ",") {
		name, value, ok := strings.Cut(strings.TrimSpace(item), "=")
		if name == "" && !ok {
			continue
		}
		d := &digest{name: strings.ToLower(strings.TrimSpace(name))}
		switch d.name {
		case "sha-256":
			d.sum = sha256.New()
		case "sha-512":
			d.sum = sha512.New()
		default:
			continue
		}
		value, _, _ = strings.Cut(value, ";")
		encoded := strings.TrimSpace(value)
		if len(encoded) < 2 || encoded[0] != ':' || encoded[len(encoded)-1] != ':' {
			return nil, errDigest()
		}
		d.want, err = base64.StdEncoding.DecodeString(encoded[1 : len(encoded)-1])
		if err != nil || len(d.want) != d.sum.Size() {
			return nil, errDigest()
		}
		all = append(all, d)
	}
	return all, nil
}

func errDigest() error {
	return herb.Invalidf("malformed Content-Digest; write sha-256=:<digest in Base64>:")
}

func (all digests) write(p []byte) {
	for _, d := range all {
		d.sum.Write(p)
	}
}

// Check fails if the body is not the one whose digests the client has stated.
func (all digests) Check() error {
	for _, d := range all {
		if !bytes.Equal(d.sum.Sum(nil), d.want) {
			return herb.Invalidf("the body does not match its Content-Digest (%s): it was changed on the way; "+
				"nothing has changed; send it again", d.name)
		}
	}
	return nil
}
