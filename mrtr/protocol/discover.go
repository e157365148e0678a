package protocol

import "github.com/go-json-experiment/json/jsontext"

// DiscoverResult answers server/discover (Discovery, DiscoverResult).
type DiscoverResult struct {
	ResultType        ResultType         `json:"resultType,omitzero"`
	SupportedVersions []string           `json:"supportedVersions"`
	Capabilities      ServerCapabilities `json:"capabilities"`
	Instructions      string             `json:"instructions,omitzero"` // for the model
	Cache             *CacheHints        `json:",embed"`                // required
	Meta              Object             `json:"_meta,omitzero"`
	Other             jsontext.Value     `json:",embed"`
}
