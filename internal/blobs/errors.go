package blobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/aws/smithy-go"
	"gocloud.dev/gcerrors"
	"google.golang.org/api/googleapi"

	"herbarium/internal/herb"
)

// failed makes an error of what has kept the store from doing something. what says it: "read a.segment in".
func (b *Bucket) failed(ctx context.Context, err error, what string) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return fmt.Errorf("%s %s: %w", what, b.name, context.Cause(ctx))
	}
	if ctx.Err() != nil {
		return herb.Wrap(herb.CodeUnavailable, ctx.Err(), "there was not enough time to %s the object store %s", what, b.name)
	}
	if code, ok := refusal(err); ok {
		// What the store says may repeat what it was sent.
		return herb.Errorf(herb.CodeUnavailable,
			"the object store refuses to %s %s (%s); check the credentials and what they permit", what, b.name, code)
	}
	if s, ok := errors.AsType[stalled](err); ok {
		return herb.Wrap(herb.CodeUnavailable, err, "the object store has said nothing for %s when asked to %s %s", s.after, what,
			b.name)
	}
	if e, ok := errors.AsType[*azcore.ResponseError](err); ok {
		// It would show the whole answer, over several lines.
		err = fmt.Errorf("status %d %s", e.StatusCode, e.ErrorCode)
	}
	return herb.Wrap(herb.CodeUnavailable, err, "the object store is not able to %s %s at the moment", what, b.name)
}

// refusal returns the store's word for a lack of permission, if that is what an error is.
func refusal(err error) (code string, ok bool) {
	status := 0
	if e, found := errors.AsType[smithy.APIError](err); found {
		code = e.ErrorCode()
		switch code {
		case "InvalidAccessKeyId", "SignatureDoesNotMatch", "InvalidToken", "ExpiredToken", "RequestTimeTooSkewed",
			"AccountProblem", "AllAccessDisabled", "AuthorizationHeaderMalformed":
			return code, true
		}
	}
	if e, found := errors.AsType[*azcore.ResponseError](err); found {
		code, status = e.ErrorCode, e.StatusCode
	}
	if e, found := errors.AsType[*googleapi.Error](err); found {
		code, status = fmt.Sprintf("status %d", e.Code), e.Code
	}
	if errors.Is(err, fs.ErrPermission) {
		code = "permission denied"
	}
	denied := gcerrors.Code(err) == gcerrors.PermissionDenied || errors.Is(err, fs.ErrPermission) ||
		status == http.StatusUnauthorized || status == http.StatusForbidden
	if denied && code == "" {
		code = "permission denied"
	}
	return code, denied
}

// missing reports whether there is nothing under a name, or no bucket. Gocloud says so of whatever Google refuses, too.
func missing(err error) bool {
	_, denied := refusal(err)
	return !denied && gcerrors.Code(err) == gcerrors.NotFound
}
