package schema

import "strconv"

// goInteger returns the rule that keeps text from being read into a Go integer,
// empty if there is none. A minimum of 0 or more allows for unsigned ones.
func goInteger(text, minimum string) string {
	if _, err := strconv.ParseInt(text, 10, 64); err == nil {
		return ""
	}
	if minimum != "" && minimum[0] != '-' {
		if _, err := strconv.ParseUint(text, 10, 64); err == nil {
			return ""
		}
	}
	for _, b := range []byte(text) {
		if b == '.' || b == 'e' || b == 'E' {
			return ruleIntegerForm
		}
	}
	return ruleIntegerRange
}

func (c *check) array(n *node, v *value, local []bool) bool {
	ok := true
	switch {
	case n.minItems >= 0 && len(v.kids) < n.minItems:
		ok = c.report(ruleMinItems)
	case n.maxItems >= 0 && len(v.kids) > n.maxItems:
		ok = c.report(ruleMaxItems)
	}
	for i := range v.kids {
		if !ok && c.stop() {
			return false
		}
		m := n.items
		if i < len(n.prefix) {
			m = n.prefix[i]
		}
		if m == nil {
			continue
		}
		if !c.part(step{index: i}, m, &v.kids[i]) {
			ok = false
		}
		mark(local, i)
	}
	if n.unique && !c.distinct(v) {
		ok = c.report(ruleUnique)
	}
	if n.contains != nil && !c.contains(n, v, local) {
		ok = false
	}
	return ok
}

func (c *check) distinct(v *value) bool {
	seen := make(map[string]struct{}, len(v.kids))
	var key []byte
	for i := range v.kids {
		key = appendKey(key[:0], &v.kids[i])
		c.spend(1 + len(key)/64)
		if _, twice := seen[string(key)]; twice {
			return false
		}
		seen[string(key)] = struct{}{}
	}
	return true
}

func (c *check) contains(n *node, v *value, local []bool) bool {
	count := 0
	for i := range v.kids {
		if c.matches(n.contains, &v.kids[i], nil) {
			count++
			mark(local, i)
		}
	}
	switch {
	case count < n.minContains:
		return c.report(ruleContainsFew)
	case n.maxContains >= 0 && count > n.maxContains:
		return c.report(ruleContainsMany)
	}
	return true
}

func (c *check) object(n *node, v *value, local []bool) bool {
	ok := c.members(n, v)
	for i := range v.kids {
		if !ok && c.stop() {
			return false
		}
		m := &v.kids[i]
		if n.names != nil && !c.matches(n.names, &value{kind: kindString, text: m.name}, nil) {
			ok = c.report(ruleMemberName)
		}
		p := n.properties[m.name]
		declared, known := p != nil, p != nil
		if declared {
			if !c.part(step{name: m.name, index: -1}, p, m) {
				ok = false
			}
		}
		for _, p := range n.patterns {
			c.spend(1 + len(m.name)/8)
			if c.steps >= 0 && p.name.MatchString(m.name) {
				if !c.part(step{name: m.name, index: -1, hidden: !declared}, p.node, m) {
					ok = false
				}
				known = true
			}
		}
		switch {
		case known:
			mark(local, i)
		case n.additional == nil:
		case n.additional.never:
			ok = c.report(ruleExtra)
		default:
			if !c.part(step{index: -1, hidden: true}, n.additional, m) {
				ok = false
			}
			mark(local, i)
		}
	}
	return ok
}

// members checks which and how many members there are.
func (c *check) members(n *node, v *value) bool {
	ok := c.require(n.required, v)
	for _, d := range n.dependentRequired {
		if c.member(v, d.name) && !c.require(d.required, v) {
			ok = false
		}
	}
	switch {
	case n.minMembers >= 0 && len(v.kids) < n.minMembers:
		ok = c.report(ruleMinMembers)
	case n.maxMembers >= 0 && len(v.kids) > n.maxMembers:
		ok = c.report(ruleMaxMembers)
	}
	return ok
}

// member reports whether v has a member called name; it takes the time to look.
func (c *check) member(v *value, name string) bool {
	c.spend(len(v.kids) / 16)
	return c.steps >= 0 && v.member(name) != nil
}

func (c *check) require(names []string, v *value) bool {
	ok := true
	for _, name := range names {
		if c.member(v, name) {
			continue
		}
		if ok = false; c.stop() {
			return false
		}
		c.path = append(c.path, step{name: name, index: -1})
		c.report(ruleRequired)
		c.path = c.path[:len(c.path)-1]
	}
	return ok
}

// unevaluated checks the parts that no other keyword has looked at, and marks
// them.
func (c *check) unevaluated(n *node, v *value, local []bool) bool {
	rest, s := n.unevaluatedItems, step{}
	if v.kind == kindObject {
		rest, s = n.unevaluatedProperties, step{index: -1, hidden: true}
	}
	if rest == nil {
		return true
	}
	ok := true
	for i := range v.kids {
		if local[i] {
			continue
		}
		if !ok && c.stop() {
			return false
		}
		if v.kind == kindArray {
			s.index = i
		}
		switch {
		case v.kind == kindObject && rest.never:
			ok = c.report(ruleExtra)
		case !c.part(s, rest, &v.kids[i]):
			ok = false
		}
		local[i] = true
	}
	return ok
}

func mark(local []bool, i int) {
	if local != nil {
		local[i] = true
	}
}
