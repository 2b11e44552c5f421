package httpapi

import (
	"crypto/sha256"
	"errors"
	"net/http"
	"strconv"
	"strings"

	"herbarium/internal/httpapi/body"
	"herbarium/internal/httpapi/response"

	"herbarium/internal/herb"
	"herbarium/internal/plants"
	"herbarium/internal/store"
)

const needsWriteKey = "creating a plant requires a key with the scope plants:write; send it as Authorization: Bearer <key>"

// createPlant handles the creation of a plant. It authorizes the request before reading the body.
func (a *API) createPlant(w *response.Writer, r *http.Request) error {
	principal, err := a.gate.Authorize(w, r, w.Key(r), needsWriteKey, herb.ScopePlantsWrite)
	if err != nil {
		return err
	}
	if err := body.CheckJSON(r.Header); err != nil {
		return err
	}
	key, err := idempotencyKey(r.Header)
	if err != nil {
		return err
	}
	body, err := body.Read(w, r, plants.MaxBody)
	if err != nil {
		return err
	}
	defer body.Free()
	if err := w.AdmitBody(r); err != nil {
		return err
	}
	plant, err := plants.Decode(body.Bytes())
	if err != nil {
		return err
	}
	c := store.Creation{Plant: plant}
	if key != "" {
		c.IdempotencyKey = &store.IdempotencyKey{Credential: principal.ID, Key: key, Body: sha256.Sum256(body.Bytes())}
	}
	out, err := a.opts.Plants.Create(r.Context(), c)
	if err := errors.Join(err, out.Err); err != nil {
		return err
	}
	w.Set("Cache-Control", "no-store")
	if out.Replayed {
		w.Set("Idempotency-Replayed", "true")
	}
	return w.SendJSON(r, out.Plant)
}

// maxIdempotencyKey is the maximum length of an idempotency key in characters.
const maxIdempotencyKey = 255

// idempotencyKey returns the Idempotency-Key header, bare or as a quoted string, or "" if there is
// none.
func idempotencyKey(h http.Header) (string, error) {
	keys := h["Idempotency-Key"]
	if len(keys) == 0 {
		return "", nil
	}
	if len(keys) > 1 {
		return "", herb.Invalidf("Idempotency-Key is given %d times; give it once", len(keys))
	}
	key := strings.Trim(keys[0], " \t")
	if strings.HasPrefix(key, `"`) {
		key, _ = strconv.Unquote(key) // empty if it is invalid
	}
	if key == "" || len(key) > maxIdempotencyKey ||
		strings.ContainsFunc(key, func(c rune) bool { return c < '!' || c > '~' }) {
		return "", herb.Invalidf(
			"Idempotency-Key must be 1 to %d visible ASCII characters without spaces, bare or in double quotes",
			maxIdempotencyKey)
	}
	return key, nil
}
