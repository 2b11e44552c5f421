package webhooks

import (
	"context"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// pauses are the times between the attempts, as Standard Webhooks recommends them: three days in
// total.
func pauses() []time.Duration {
	return []time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour, 10 * time.Hour,
		14 * time.Hour, 20 * time.Hour, 24 * time.Hour,
	}
}

// attempt sends a delivery that was claimed, and records the result.
func (s *Service) attempt(ctx context.Context, w herb.Webhook, d store.Delivery) {
	message, err := newMessage(d, s.opts.PublicURL)
	if err != nil {
		s.opts.Log.Error("cannot encode a webhook delivery", "webhook", w.ID, "event", d.Event, "err", err)
		return
	}
	result := s.opts.Sender.Send(ctx, w, message)
	interrupted := ctx.Err() != nil && !result.Delivered()
	d.Attempted, d.Result = s.opts.Now(), result.String()
	outcome := OutcomeRetry
	switch pauses := pauses(); {
	case result.Delivered():
		d.State, outcome = store.DeliveryDelivered, OutcomeDelivered
	case interrupted: // the next server need not wait
		d.Due, d.Result = d.Attempted, "the server was stopped"
	case result.gone():
		d.State, outcome = store.DeliveryFailed, OutcomeGone
	case d.Attempts > len(pauses):
		d.State, outcome = store.DeliveryFailed, OutcomeFailed
	default:
		pause := pauses[d.Attempts-1]
		d.Due = d.Attempted.Add(pause + s.opts.Jitter(pause))
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordTimeout)
	defer cancel()
	if err := s.record(ctx, d, outcome); err != nil {
		s.opts.Log.Warn("cannot record a webhook delivery; it may be repeated", "webhook", w.ID, "event",
			d.Event, "err", err)
	}
	if interrupted {
		return
	}
	s.opts.Observe(outcome)
	log := s.opts.Log.With("webhook", w.ID, "event", d.Event, "type", string(d.Type), "dataset", d.Data.Dataset,
		"attempt", d.Attempts)
	switch outcome {
	case OutcomeDelivered:
		log.Debug("webhook delivered")
	case OutcomeRetry:
		log.Info("webhook not delivered; will retry", "result", d.Result, "due", d.Due)
	case OutcomeFailed:
		log.Warn("webhook not delivered; giving up", "result", d.Result)
	case OutcomeGone:
		log.Warn("webhook disabled, because its endpoint is gone", "result", d.Result)
	}
}

// record records an attempt, and disables the webhook of an endpoint that is gone.
func (s *Service) record(ctx context.Context, d store.Delivery, outcome Outcome) error {
	if _, err := s.opts.Store.RecordAttempt(ctx, d); err != nil || outcome != OutcomeGone {
		return err
	}
	ctx = herb.WithActor(ctx, herb.Actor{ID: "server", Origin: "webhook " + d.Webhook})
	return s.opts.Store.DisableWebhook(ctx, d.Webhook, d.Result, d.Attempted)
}
