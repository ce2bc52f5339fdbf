package statement

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/secure-systems-lab/go-securesystemslib/dsse"
)

// Envelope is a payload with signatures.
type Envelope = dsse.Envelope

// Sign puts a payload into an envelope. It fails without a key.
func (k Key) Sign(ctx context.Context, payload []byte) (*Envelope, error) {
	if k.private == nil {
		return nil, errors.New("there is no key to sign with")
	}
	public, err := k.Public(time.Time{})
	if err != nil {
		return nil, err
	}
	envelopes, err := dsse.NewEnvelopeSigner(signer{public.ID, k.private})
	if err != nil {
		return nil, err
	}
	return envelopes.SignPayload(ctx, PayloadType, payload)
}

// Verify checks an envelope against a site's keys, and returns what was signed and the id of the key that did.
func (k Keys) Verify(ctx context.Context, e *Envelope) (s Statement, payload []byte, key string, err error) {
	var verifiers []dsse.Verifier
	for _, public := range k.Keys {
		v, err := public.verifier()
		if err != nil {
			return s, nil, "", err
		}
		verifiers = append(verifiers, v)
	}
	envelopes, err := dsse.NewEnvelopeVerifier(verifiers...)
	if err != nil {
		return s, nil, "", errors.New("there is no key to verify with")
	}
	if e.PayloadType != PayloadType {
		return s, nil, "", fmt.Errorf("the envelope holds %q, not %q", e.PayloadType, PayloadType)
	}
	accepted, payload, err := envelopes.VerifyAndDecode(ctx, e)
	if err != nil || len(accepted) == 0 {
		return s, nil, "", errors.New("no signature on it was made by one of the site's keys: it was changed, or another site made it")
	}
	s, err = Read(payload)
	return s, payload, accepted[0].KeyID, err
}

// ReadEnvelope reads an envelope from JSON.
func ReadEnvelope(text []byte) (*Envelope, error) {
	var e Envelope
	if err := json.Unmarshal(text, &e); err != nil {
		return nil, fmt.Errorf("this is no DSSE envelope: %w", err)
	}
	return &e, nil
}
