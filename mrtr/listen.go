package mrtr

import (
	"github.com/go-json-experiment/json/jsontext"

	"github.com/mrtr-lambda/mrtr-lambda/mrtr/protocol"
)

// listen answers a subscriptions/listen: what a deployment offers never
// changes, so the acknowledgement grants nothing and the subscription ends
// gracefully at once.
func (h *handler) listen(r *request) (jsontext.Value, error) {
	var p struct {
		Notifications jsontext.Value `json:"notifications"`
	}
	if unmarshal(r.Params, &p) != nil || p.Notifications.Kind() != '{' {
		return nil, invalidParams("notifications must be an object")
	}
	meta := protocol.Object{protocol.MetaSubscriptionID: r.ID}
	r.stream.notify(protocol.NotificationSubscriptionsAcknowledged, struct {
		Meta          protocol.Object `json:"_meta"`
		Notifications struct{}        `json:"notifications"`
	}{Meta: meta})
	return r.encodeResult(struct {
		ResultType protocol.ResultType `json:"resultType"`
	}{protocol.ResultComplete}, meta)
}
