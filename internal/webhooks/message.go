package webhooks

import (
	"bytes"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herbarium/internal/herb"
	"herbarium/internal/store"
)

// The headers of Standard Webhooks.
const (
	headerID        = "Webhook-Id"
	headerTimestamp = "Webhook-Timestamp"
	headerSignature = "Webhook-Signature"
)

// secretPrefix begins every secret.
const secretPrefix = "whsec_"

// NewSecret returns a random secret: the prefix, and 32 bytes in Base64.
func NewSecret() herb.Secret {
	key := make([]byte, 32)
	_, _ = rand.Read(key) // never fails
	return herb.Secret(secretPrefix + base64.StdEncoding.EncodeToString(key))
}

// NewID returns a random ID of a webhook.
func NewID() string { return strings.ToLower(rand.Text()[:10]) }

// Message is what an endpoint receives.
type Message struct {
	ID   string
	Body []byte // JSON
}

// payload is the body of a message.
type payload struct {
	Type      herb.EventType `json:"type"`
	Timestamp time.Time      `json:"timestamp"` // of the event
	Data      any            `json:"data"`
}

// encode returns the payload as JSON, with the & of URLs as it is.
func (p payload) encode() ([]byte, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(p)
	return bytes.TrimSpace(b.Bytes()), err
}

// newMessage returns the message of a delivery. Every attempt sends the same one.
func newMessage(d store.Delivery, publicURL string) (Message, error) {
	data := struct {
		herb.EventData
		Changes string `json:"changes_url,omitempty"`
	}{EventData: d.Data}
	if d.Data.Version != "" && d.Data.Previous != "" {
		query := url.Values{"_from": {d.Data.Previous}, "_to": {d.Data.Version}}
		data.Changes = publicURL + "/api/v1/" + d.Data.Dataset + "/changes?" + query.Encode()
	}
	body, err := payload{d.Type, d.Created, data}.encode()
	return Message{d.Event, body}, err
}

// NewTestMessage returns a message that is not about an event.
func NewTestMessage(w herb.Webhook, now time.Time) (Message, error) {
	body, err := payload{herb.EventTest, now.UTC(), map[string]string{"webhook": w.ID}}.encode()
	return Message{"msg_" + strings.ToLower(rand.Text()), body}, err
}

// sign returns the signature of a message that is sent at a time, in seconds since 1970.
func (m Message) sign(secret herb.Secret, at int64) (string, error) {
	key, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(string(secret), secretPrefix))
	if err != nil {
		return "", herb.Errorf(herb.CodeInternal, "the stored secret is malformed")
	}
	h := hmac.New(sha256.New, key)
	h.Write([]byte(m.ID + "." + strconv.FormatInt(at, 10) + "."))
	h.Write(m.Body)
	return "v1," + base64.StdEncoding.EncodeToString(h.Sum(nil)), nil
}
