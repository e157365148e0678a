package protocol

// Requests that a client sends (schema: ClientRequest).
const (
	MethodDiscover              = "server/discover"
	MethodListTools             = "tools/list"
	MethodCallTool              = "tools/call"
	MethodListPrompts           = "prompts/list"
	MethodGetPrompt             = "prompts/get"
	MethodListResources         = "resources/list"
	MethodListResourceTemplates = "resources/templates/list"
	MethodReadResource          = "resources/read"
	MethodComplete              = "completion/complete"
	MethodSubscriptionsListen   = "subscriptions/listen"
)

// What a server may ask for in an [InputRequest] (schema: InputRequest).
const (
	MethodElicit        = "elicitation/create"
	MethodCreateMessage = "sampling/createMessage" // deprecated since 2026-07-28
	MethodListRoots     = "roots/list"             // deprecated since 2026-07-28
)

// Notifications.
const (
	NotificationCancelled                 = "notifications/cancelled"
	NotificationProgress                  = "notifications/progress"
	NotificationMessage                   = "notifications/message" // deprecated since 2026-07-28
	NotificationToolListChanged           = "notifications/tools/list_changed"
	NotificationPromptListChanged         = "notifications/prompts/list_changed"
	NotificationResourceListChanged       = "notifications/resources/list_changed"
	NotificationResourceUpdated           = "notifications/resources/updated"
	NotificationSubscriptionsAcknowledged = "notifications/subscriptions/acknowledged"
)

// Methods of the handshake era only; 2026-07-28 removed them.
const (
	MethodInitialize             = "initialize"
	MethodPing                   = "ping"
	MethodSetLevel               = "logging/setLevel"
	MethodSubscribe              = "resources/subscribe"
	MethodUnsubscribe            = "resources/unsubscribe"
	NotificationInitialized      = "notifications/initialized"
	NotificationRootsListChanged = "notifications/roots/list_changed"
	NotificationElicitComplete   = "notifications/elicitation/complete" // 2025-11-25
)
