// Package dynamostore is an [mrtr.SingleUseStore] in a DynamoDB table: what
// [mrtr.Call.SingleUse] needs on AWS, where any instance may get a flow's next
// round. A program links it, and the DynamoDB client with it (0.6 MB of binary
// and some 2 ms of a cold start, so none does unasked), by one line:
//
//	func main() {
//		awslambda.MainWith(awslambda.Options{SingleUse: dynamostore.Open}, newServer)
//	}
//
// and uses the table that MRTR_REPLAY_TABLE names. infra/replay.yaml makes it:
// partition key "flow", a string, and time to live by "expires".
//
// A claim is one conditional PutItem, for which the role needs dynamodb:PutItem
// on this table and nothing else:
//
//	flow     S  the flow's id
//	answers  B  SHA-256 of the answers that it goes on with
//	expires  N  Unix time after which DynamoDB may drop it
//
// It succeeds where the flow has no item, or one with the same answers: a call
// whose reply was lost can be made again, a second continuation of the same
// flow with other answers cannot.
//
// # Regions
//
// A table is of one region. One that is replicated to others does not help,
// since each region would accept a claim before it learns of the other's; flows
// carry the region and table that they began under, and [mrtr.Call.SingleUse]
// refuses those of another place.
package dynamostore
