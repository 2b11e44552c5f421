package ingest

import "bytes"

// xmlNames resolves the namespace prefixes of one document. Parts of a workbook carry extensions whose elements have the
// local names of the standard ones (x15:workbookPr), so an element counts only in the namespace of the root element.
type xmlNames struct {
	scope  []xmlNamespace // declarations in effect, innermost last
	root   []byte         // namespace of the root element
	prefix []byte         // of the root element
	fixed  int            // declarations of the root element
}

// xmlNamespace is one xmlns declaration.
type xmlNamespace struct {
	prefix, uri []byte
	depth       int // of the element that declares it
}

// declare adds the declarations among the attributes of an element at a depth.
func (n *xmlNames) declare(attrs []byte, depth int) {
	if !bytes.Contains(attrs, []byte("xmlns")) {
		return
	}
	eachAttribute(attrs, func(key, value []byte) bool {
		prefix, isPrefix := bytes.CutPrefix(key, []byte("xmlns:"))
		if isPrefix || string(key) == "xmlns" {
			if !isPrefix {
				prefix = nil
			}
			n.scope = append(n.scope, xmlNamespace{bytes.Clone(prefix), bytes.Clone(unescaped(value)), depth})
		}
		return true
	})
}

// leave drops the declarations of elements deeper than depth.
func (n *xmlNames) leave(depth int) {
	for len(n.scope) > 0 && n.scope[len(n.scope)-1].depth > depth {
		n.scope = n.scope[:len(n.scope)-1]
	}
}

// uri returns the namespace of a prefix. One that is not declared stands for itself.
func (n *xmlNames) uri(prefix []byte) []byte {
	for i := len(n.scope) - 1; i >= 0; i-- {
		if bytes.Equal(n.scope[i].prefix, prefix) {
			return n.scope[i].uri
		}
	}
	return prefix
}

// local returns the local name of an element in the namespace of the root, and nil for one of another namespace.
func (n *xmlNames) local(name []byte, depth int) []byte {
	prefix, local := splitName(name)
	if depth == 1 {
		n.root, n.prefix, n.fixed = bytes.Clone(n.uri(prefix)), bytes.Clone(prefix), len(n.scope)
	}
	// Almost every element has the prefix of the root and nothing redeclares it: no lookup then.
	if len(n.scope) == n.fixed && bytes.Equal(prefix, n.prefix) || bytes.Equal(n.uri(prefix), n.root) {
		return local
	}
	return nil
}

// splitName splits a qualified name into its prefix, nil if there is none, and its local name.
func splitName(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i > 0 && i < len(name)-1 {
		return name[:i], name[i+1:]
	}
	return nil, name
}

// eachAttribute calls visit with the attributes of a tag as they are written, until it returns false.
func eachAttribute(attrs []byte, visit func(key, value []byte) bool) {
	for {
		attrs = skipSpaces(attrs)
		i := bytes.IndexByte(attrs, '=')
		if i < 0 {
			return
		}
		key := attrs[:i]
		for len(key) > 0 && isXMLSpace(key[len(key)-1]) {
			key = key[:len(key)-1]
		}
		attrs = skipSpaces(attrs[i+1:])
		if len(attrs) == 0 || attrs[0] != '"' && attrs[0] != '\'' {
			return
		}
		end := bytes.IndexByte(attrs[1:], attrs[0])
		if end < 0 || !visit(key, attrs[1:1+end]) {
			return
		}
		attrs = attrs[end+2:]
	}
}

// attribute returns the value of an attribute without a prefix, nil if there is none.
func attribute(attrs []byte, name string) (found []byte) {
	eachAttribute(attrs, func(key, value []byte) bool {
		if string(key) == name {
			found = value
		}
		return found == nil
	})
	return found
}

// attr returns an attribute of the element that has no namespace; empty if there is none.
func (x *xmlScanner) attr(name string) []byte { return unescaped(attribute(x.attrs, name)) }

// attrIn returns an attribute of the element in a namespace that ends with suffix; the standard has two, which differ in
// their beginnings. Empty if there is none.
func (x *xmlScanner) attrIn(suffix, name string) (found []byte) {
	eachAttribute(x.attrs, func(key, value []byte) bool {
		prefix, local := splitName(key)
		if prefix != nil && string(local) == name && bytes.HasSuffix(x.names.uri(prefix), []byte(suffix)) {
			found = value
		}
		return found == nil
	})
	return unescaped(found)
}

func unescaped(value []byte) []byte {
	if bytes.IndexByte(value, '&') < 0 {
		return value
	}
	undone, err := undoEntities(bytes.Clone(value))
	if err != nil {
		return value
	}
	return undone
}
