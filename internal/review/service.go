package review

import (
	"context"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/upload"
)

// Service keeps drafts and reviews them. It is safe for concurrent use.
type Service struct{}

// Create keeps a received file as a draft of a dataset. It takes over the file. The error has
// herb.CodeRateLimited if there are too many drafts.
func (s *Service) Create(ctx context.Context, ref herb.Ref, f *upload.File, actor herb.Actor) (Draft, error) {
	return Draft{}, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Drafts returns the drafts of a key, newest first. owner is herb.Actor.Name.
func (s *Service) Drafts(ctx context.Context, owner string) ([]Draft, error) {
	return nil, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Draft returns a draft. The error has herb.CodeNotFound if there is none, or not any more. The
// caller checks that the key of the request may publish its dataset.
func (s *Service) Draft(ctx context.Context, id string) (Draft, error) {
	return Draft{}, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Review returns what publishing a draft would do. The file is read in the background; if that
// takes longer than wait, the review has a Progress. Calling Review again joins the reading.
func (s *Service) Review(ctx context.Context, id string, wait time.Duration) (Review, error) {
	return Review{}, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Edit replaces the edits of a draft.
func (s *Service) Edit(ctx context.Context, id string, e Edits) error {
	return herb.Errorf(herb.CodeUnavailable, "not available")
}

// Descriptor returns a datapackage.json that, published with the file, gives the same listing as
// publishing the draft.
func (s *Service) Descriptor(ctx context.Context, id string) ([]byte, error) {
	return nil, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Publish starts to publish a draft and returns the ID of the publish, whose state State returns.
// live is Review.Live: the publish is rejected if another version is live. The draft is removed
// when it is live, and stays otherwise.
func (s *Service) Publish(ctx context.Context, id string, allowBreaking bool, live string, actor herb.Actor) (publish string, err error) {
	return "", herb.Errorf(herb.CodeUnavailable, "not available")
}

// State returns the state of a publish, on any node. If it has not ended, State waits for its end,
// at most for a duration.
func (s *Service) State(ctx context.Context, publish string, wait time.Duration) (upload.Record, error) {
	return upload.Record{}, herb.Errorf(herb.CodeUnavailable, "not available")
}

// Discard removes a draft. It is no error if there is none.
func (s *Service) Discard(ctx context.Context, id string) error {
	return herb.Errorf(herb.CodeUnavailable, "not available")
}

// Stop cancels all readings and waits until they have ended.
func (s *Service) Stop() {}
