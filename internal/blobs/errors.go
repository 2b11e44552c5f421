package blobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"

	"github.com/minio/minio-go/v7"

	"herbarium/internal/herb"
)

// unavailable maps a failure of the store to a herb error; nil stays nil. operation completes the sentence "cannot … the object store":
// "read a.segment in".
func (b *Bucket) unavailable(ctx context.Context, err error, operation string) error {
	if err == nil {
		return nil
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s %s: %w", operation, b.name, context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return herb.Wrap(herb.CodeUnavailable, ctx.Err(), "cannot %s the object store %s within the deadline", operation, b.name)
	}
	if reason, ok := refusal(err); ok {
		return herb.Errorf(herb.CodeUnavailable, "cannot %s the object store %s: access denied (%s); check the credentials and "+
			"their permissions", operation, b.name, reason)
	}
	if s, ok := errors.AsType[stalled](err); ok {
		return herb.Wrap(herb.CodeUnavailable, err, "cannot %s the object store %s: no response for %s", operation, b.name, s.after)
	}
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		// The message of a store may repeat what it was sent, and span several lines.
		err = fmt.Errorf("status %d, code %q", e.StatusCode, e.Code)
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL
	}
	return herb.Wrap(herb.CodeUnavailable, err, "cannot %s the object store %s", operation, b.name)
}

// refusal returns the error code of the store if err means that it denies access. The message of the store is left out
// because it may repeat the signature.
func refusal(err error) (reason string, ok bool) {
	if e, ok := errors.AsType[noCredentials](err); ok {
		return e.Error(), true
	}
	if errors.Is(err, fs.ErrPermission) {
		return "permission denied", true
	}
	e, _ := errors.AsType[minio.ErrorResponse](err)
	switch e.Code {
	case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "RequestTimeTooSkewed",
		"AccountProblem", "AllAccessDisabled", "AuthorizationHeaderMalformed":
		return e.Code, true
	}
	return e.Code, e.StatusCode == http.StatusUnauthorized || e.StatusCode == http.StatusForbidden
}

// isMissing reports whether an object, or the bucket or folder, does not exist.
func isMissing(err error) bool {
	if e, ok := errors.AsType[minio.ErrorResponse](err); ok {
		return e.StatusCode == http.StatusNotFound || e.Code == minio.NoSuchKey || e.Code == minio.NoSuchBucket
	}
	return errors.Is(err, fs.ErrNotExist)
}
