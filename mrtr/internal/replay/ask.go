package replay

import (
	"fmt"

	"github.com/go-json-experiment/json/jsontext"
)

// Question is a question as this run asks it.
type Question struct {
	Key      string
	Digest   Digest
	Confirm  bool // Digest covers all of the question, and no unsigned answer counts
	Optional bool // a no to it does not close its group

	// Check judges an answer as it came. It returns what is to be logged, an
	// object with Accepted, or Unanswered and what is wrong with the answer, in
	// words that hold nothing of it.
	Check func(answer jsontext.Value) (outcome Outcome, value jsontext.Value, wrong []string)

	Ref any // the caller's own; Pending gives it back
}

// Ask passes a group and returns its outcomes and values in the order of qs.
// ErrPending says that some have no answer yet; they are in Pending then.
func (r *Run) Ask(qs []Question) ([]Answered, error) {
	if err := r.enter(); err != nil {
		return nil, err
	}
	defer r.leave()
	if err := r.guarded(); err != nil {
		return nil, err
	}
	if len(qs) == 0 {
		return nil, r.fail(fmt.Errorf("%w: a group without questions", ErrMisuse))
	}
	for i := range qs {
		if err := r.once("question", qs[i].Key); err != nil {
			return nil, err
		}
	}
	// 1. The entry at this place, if any: closed for good, or to be asked.
	var old *Entry
	if r.next < len(r.log.Entries) {
		old = &r.log.Entries[r.next]
		ask, err := compare(old, qs, r.next, r.next == len(r.log.Entries)-1)
		if err != nil {
			return nil, r.fail(err)
		}
		if !ask {
			r.next++
			return inOrder(old.Group, qs), nil
		}
	}
	// 2. The answers that there are, and what is still missing.
	group := r.merge(old, qs)
	r.pending = waiting(group, qs)
	entry := Entry{Group: group, Open: r.pending != nil}
	if old != nil {
		*old = entry // the last one, since it is open or was reopened
	} else {
		r.log.Entries = append(r.log.Entries, entry)
	}
	r.next++
	if entry.Open {
		return nil, r.fail(ErrPending)
	}
	r.invalid = nil
	return group, nil
}

// compare holds an entry against the group that a run asks at its place. ask:
// the entry is open, or it is closed and nothing follows, but a Confirm's text
// has changed, or the no that closed it is to a question that is optional now,
// so that it is to be asked anew.
func compare(e *Entry, qs []Question, at int, last bool) (ask bool, err error) {
	if e.Step != "" {
		return false, fmt.Errorf("%w: at %d there was %v, now there is question %q", ErrDiverged, at, e, qs[0].Key)
	}
	if e.Open {
		return true, nil
	}
	for i := range qs {
		q := &qs[i]
		old := find(e.Group, q.Key)
		switch {
		case old == nil:
			return false, fmt.Errorf("%w: at %d there was %v, now there is question %q", ErrDiverged, at, e, q.Key)
		case old.Confirm == q.Confirm && old.Digest == q.Digest:
		case !old.Confirm || !q.Confirm:
			return false, fmt.Errorf("%w: question %q at %d has another shape", ErrDiverged, q.Key, at)
		case !last:
			return false, fmt.Errorf("%w: the text of confirmation %q at %d has changed after later questions or steps", ErrDiverged, q.Key, at)
		default:
			ask = true
		}
	}
	if len(e.Group) != len(qs) {
		return false, fmt.Errorf("%w: the group of question %q at %d has lost questions", ErrDiverged, qs[0].Key, at)
	}
	if waiting(inOrder(e.Group, qs), qs) != nil {
		if !last {
			return false, fmt.Errorf("%w: a question of the group of %q at %d became optional after later questions or steps", ErrDiverged, qs[0].Key, at)
		}
		ask = true
	}
	return ask, nil
}

// merge returns the group as it stands: signed answers first, then those that
// came with the request and may count. old may be nil.
func (r *Run) merge(old *Entry, qs []Question) []Answered {
	group := make([]Answered, len(qs))
	for i := range qs {
		q, a := &qs[i], &group[i]
		*a = Answered{Key: q.Key, Digest: q.Digest, Confirm: q.Confirm}
		counts := !r.signed && !q.Confirm
		if old != nil {
			signed := find(old.Group, q.Key)
			same := signed != nil && signed.Confirm == q.Confirm && signed.Digest == q.Digest
			if same && signed.Outcome != Unanswered {
				a.Outcome, a.Value = signed.Outcome, signed.Value
				continue
			}
			counts = counts || same && old.Open
		}
		answer, ok := r.fresh[q.Key]
		if !ok || !counts {
			continue
		}
		var wrong []string
		if a.Outcome, a.Value, wrong = q.Check(answer); a.Outcome == Unanswered {
			if r.invalid == nil {
				r.invalid = make(map[string][]string)
			}
			r.invalid[q.Key] = wrong
		}
	}
	return group
}

// waiting returns the questions that are to be sent: nil where all have an
// answer, or where a no to a question that is not optional closes the group.
func waiting(group []Answered, qs []Question) []Question {
	var open []Question
	for i := range group {
		switch group[i].Outcome {
		case Unanswered:
			open = append(open, qs[i])
		case Declined, Cancelled:
			if !qs[i].Optional {
				return nil
			}
		}
	}
	return open
}

func find(group []Answered, key string) *Answered {
	for i := range group {
		if group[i].Key == key {
			return &group[i]
		}
	}
	return nil
}

// inOrder returns the group's answers in the order of qs, which has the same
// keys.
func inOrder(group []Answered, qs []Question) []Answered {
	out := make([]Answered, len(qs))
	for i := range qs {
		out[i] = *find(group, qs[i].Key)
	}
	return out
}
