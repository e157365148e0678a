// Package schema holds the JSON Schemas of tools and forms: it makes them from
// Go types, reads those that an author wrote, and checks values against them.
//
// # What it promises
//
// A value under check is everything a hostile client likes to send. So:
//
//   - Work is bounded: nesting, steps and the number of reported violations have
//     limits, and a pattern is a regular expression of linear time.
//   - Nothing of a value reaches a [Violation]: its rule is one of the texts of
//     this package, and its pointer holds array indexes and names that the schema
//     itself declares. A name that only the client chose is left out.
//   - Numbers are compared as they are written. 9007199254740993 is not
//     9007199254740992.
//   - No schema is ever fetched: a reference leads into the same schema, or the
//     schema is refused.
//   - The bytes of a schema made from a Go type depend on that type alone: equal
//     types give equal bytes in every process and build.
//
// # Coverage
//
// All assertions and applicators of JSON Schema 2020-12 are checked. One schema
// is one resource: an $id below the root is refused, and so $dynamicRef is the
// same as $ref. The keyword format, which 2020-12 makes an annotation, is
// asserted in schemas made from Go types and in forms, and only there.
package schema
