package schema

import (
	"slices"
	"strconv"
	"unicode/utf8"
)

// A check is one run of a schema over one value.
type check struct {
	steps int // left; below zero the check is given up
	quiet int // above zero: only the verdict counts, nothing is reported
	path  []step
	found []Violation
}

// budget returns how many steps a check of n values may take: ample for any
// schema whose work is linear, an end to those whose work explodes.
func budget(n int) int { return min(10_000+256*n, 4_000_000) }

// report notes a violation at the current path and returns false.
func (c *check) report(rule string) bool {
	if c.quiet > 0 || len(c.found) == maxViolations {
		return false
	}
	p, whole := pointer(c.path)
	if !whole {
		rule = ruleMember
	}
	if v := (Violation{p, rule}); !slices.Contains(c.found, v) {
		c.found = append(c.found, v)
	}
	return false
}

func (c *check) spend(steps int) { c.steps -= steps }

// stop reports whether, after a failure, looking further is of no use.
func (c *check) stop() bool {
	return c.quiet > 0 || len(c.found) == maxViolations || c.steps < 0
}

// part checks a part of the value, one step down.
func (c *check) part(s step, n *node, v *value) bool {
	c.path = append(c.path, s)
	ok := c.value(n, v, nil)
	c.path = c.path[:len(c.path)-1]
	return ok
}

// matches gives n's verdict on v without a report.
func (c *check) matches(n *node, v *value, seen []bool) bool {
	c.quiet++
	ok := c.value(n, v, seen)
	c.quiet--
	return ok
}

// value checks v. Where seen is not nil, the parts of v that were evaluated are
// marked in it, if v is valid.
func (c *check) value(n *node, v *value, seen []bool) bool {
	if c.spend(1 + len(v.kids)/4 + len(v.text)/64); c.steps < 0 {
		return false
	}
	if n.never {
		return c.report(ruleNever)
	}
	if n.types != 0 && !n.types.has(v) {
		return c.report(n.typeRule) // anything else would be noise
	}
	ok := true
	if n.enum != nil {
		c.spend(len(n.enum.others) * (1 + len(v.text)/64))
		if c.steps >= 0 && !n.enum.has(v) {
			return c.report(n.enum.rule)
		}
	}
	var local []bool
	if seen != nil || n.unevaluatedItems != nil || n.unevaluatedProperties != nil {
		local = make([]bool, len(v.kids))
	}
	switch v.kind {
	case kindNumber:
		ok = c.number(n, v.text)
	case kindString:
		ok = c.string(n, v.text)
	case kindArray:
		ok = c.array(n, v, local)
	case kindObject:
		ok = c.object(n, v, local)
	}
	if !ok && c.stop() {
		return false
	}
	if !c.combined(n, v, local) {
		ok = false
	}
	if ok && local != nil {
		if ok = c.unevaluated(n, v, local); ok {
			for i := range seen {
				seen[i] = seen[i] || local[i]
			}
		}
	}
	return ok && c.steps >= 0
}

func (c *check) number(n *node, text string) bool {
	if n.strict && n.types&typeInteger != 0 && n.types&typeNumber == 0 {
		if rule := goInteger(text, n.minimum); rule != "" {
			return c.report(rule)
		}
	} else if n.strict && n.types&typeNumber != 0 {
		if _, err := strconv.ParseFloat(text, 64); err != nil {
			return c.report(ruleFloatRange)
		}
	}
	switch {
	case n.minimum != "" && compareNumbers(text, n.minimum) < 0,
		n.aboveMinimum != "" && compareNumbers(text, n.aboveMinimum) <= 0:
		return c.report(ruleMinimum)
	case n.maximum != "" && compareNumbers(text, n.maximum) > 0,
		n.belowMaximum != "" && compareNumbers(text, n.belowMaximum) >= 0:
		return c.report(ruleMaximum)
	case n.multipleOf != "" && !isMultiple(text, n.multipleOf):
		return c.report(ruleMultiple)
	}
	return true
}

func (c *check) string(n *node, s string) bool {
	if n.minLength >= 0 || n.maxLength >= 0 {
		length := utf8.RuneCountInString(s)
		if n.minLength >= 0 && length < n.minLength {
			return c.report(ruleMinLength)
		}
		if n.maxLength >= 0 && length > n.maxLength {
			return c.report(ruleMaxLength)
		}
	}
	if n.format != "" {
		if rule := checkFormat(n.format, s); rule != "" {
			return c.report(rule)
		}
	}
	if n.pattern != nil {
		if c.spend(len(s) / 8); c.steps >= 0 && !n.pattern.MatchString(s) {
			return c.report(rulePattern)
		}
	}
	return true
}

// combined checks the keywords that apply other schemas to the same value.
func (c *check) combined(n *node, v *value, local []bool) bool {
	ok := true
	for _, m := range [...]*node{n.ref, n.dynamicRef} {
		if m != nil && !c.value(m, v, local) {
			ok = false
		}
	}
	for _, m := range n.allOf {
		if !c.value(m, v, local) {
			ok = false
		}
		if !ok && c.stop() {
			return false
		}
	}
	if n.anyOf != nil && !c.any(n.anyOf, v, local) {
		ok = false
	}
	if n.oneOf != nil && !c.one(n.oneOf, v, local) {
		ok = false
	}
	if n.not != nil && c.matches(n.not, v, nil) {
		ok = c.report(ruleNot)
	}
	if n.condition != nil {
		branch := n.other
		if c.matches(n.condition, v, local) {
			branch = n.then
		}
		if branch != nil && !c.value(branch, v, local) {
			ok = false
		}
	}
	if v.kind == kindObject {
		for _, d := range n.dependentSchemas {
			if c.member(v, d.name) && !c.value(d.node, v, local) {
				ok = false
			}
		}
	}
	return ok
}

func (c *check) any(list []*node, v *value, local []bool) bool {
	ok := false
	for _, m := range list {
		if c.matches(m, v, local) {
			ok = true
			if local == nil {
				break
			}
		}
	}
	return ok || c.nearest(list, v, ruleAnyOf)
}

func (c *check) one(list []*node, v *value, local []bool) bool {
	found := 0
	for _, m := range list {
		if c.matches(m, v, local) {
			found++
		}
	}
	switch found {
	case 0:
		return c.nearest(list, v, ruleAnyOf)
	case 1:
		return true
	}
	return c.report(ruleOneOf)
}

// nearest reports why v matches no alternative: with the violations of the only
// one that has its type, if there is such a one.
func (c *check) nearest(list []*node, v *value, rule string) bool {
	if c.quiet > 0 {
		return false
	}
	var only *node
	for _, m := range list {
		t := m
		for t.types == 0 && t.ref != nil { // no circle: checked at compilation
			t = t.ref
		}
		if t.never || t.types != 0 && !t.types.has(v) {
			continue
		}
		if only != nil {
			return c.report(rule)
		}
		only = m
	}
	if only == nil {
		return c.report(rule)
	}
	c.value(only, v, nil)
	return false
}
