package xlsx

import "bytes"

// maxNamespaces is the number of namespace declarations in effect at a time. Each lookup scans them.
const maxNamespaces = 1_000

// namespaces resolves the prefixes of one document. Parts of a workbook have extensions whose elements have the local names
// of the standard ones (x15:workbookPr), so an element counts only in the namespace of the root element.
type namespaces struct {
	scope  []namespace // declarations in effect, innermost last
	root   []byte      // namespace of the root element
	prefix []byte      // of the root element
	fixed  int         // declarations of the root element
}

// namespace is one xmlns declaration.
type namespace struct {
	prefix, uri []byte
	depth       int // of the element that declares it
}

// declare adds the declarations among the attributes of an element at a depth.
func (n *namespaces) declare(attrs []byte, depth int) error {
	if !bytes.Contains(attrs, []byte("xmlns")) {
		return nil
	}
	eachAttribute(attrs, func(key, value []byte) bool {
		prefix, isPrefix := bytes.CutPrefix(key, []byte("xmlns:"))
		if isPrefix || string(key) == "xmlns" {
			if !isPrefix {
				prefix = nil
			}
			n.scope = append(n.scope, namespace{bytes.Clone(prefix), bytes.Clone(unescape(value)), depth})
		}
		return len(n.scope) <= maxNamespaces
	})
	if len(n.scope) > maxNamespaces {
		return xmlError("more than %d namespaces", maxNamespaces)
	}
	return nil
}

// leave drops the declarations of elements deeper than depth.
func (n *namespaces) leave(depth int) {
	for len(n.scope) > 0 && n.scope[len(n.scope)-1].depth > depth {
		n.scope = n.scope[:len(n.scope)-1]
	}
}

// uri returns the namespace of a prefix. An undeclared prefix is its own namespace.
func (n *namespaces) uri(prefix []byte) []byte {
	for i := len(n.scope) - 1; i >= 0; i-- {
		if bytes.Equal(n.scope[i].prefix, prefix) {
			return n.scope[i].uri
		}
	}
	return prefix
}

// local returns the local name of an element in the namespace of the root, and nil for one of another namespace.
func (n *namespaces) local(name []byte, depth int) []byte {
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

// splitName splits a qualified name into its prefix, nil if it has none, and its local name.
func splitName(name []byte) (prefix, local []byte) {
	if i := bytes.IndexByte(name, ':'); i > 0 && i < len(name)-1 {
		return name[:i], name[i+1:]
	}
	return nil, name
}

// eachAttribute calls visit with the attributes of a tag as written, until it returns false.
func eachAttribute(attrs []byte, visit func(key, value []byte) bool) {
	for {
		i := bytes.IndexByte(attrs, '=')
		if i < 0 {
			return
		}
		key := bytes.TrimSpace(attrs[:i])
		attrs = bytes.TrimSpace(attrs[i+1:])
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

// attribute returns the value of an attribute without a prefix, nil if it is missing.
func attribute(attrs []byte, name string) (found []byte) {
	eachAttribute(attrs, func(key, value []byte) bool {
		if string(key) == name {
			found = value
		}
		return found == nil
	})
	return found
}

// attr returns an attribute of the element without a namespace, empty if it is missing.
func (x *scanner) attr(name string) []byte { return unescape(attribute(x.attrs, name)) }

// attrIn returns an attribute of the element in a namespace that ends with suffix, empty if it is missing. The two editions
// of the standard have namespaces that differ in their beginning.
func (x *scanner) attrIn(suffix, name string) (found []byte) {
	eachAttribute(x.attrs, func(key, value []byte) bool {
		prefix, local := splitName(key)
		if prefix != nil && string(local) == name && bytes.HasSuffix(x.names.uri(prefix), []byte(suffix)) {
			found = value
		}
		return found == nil
	})
	return unescape(found)
}

func unescape(value []byte) []byte {
	if bytes.IndexByte(value, '&') < 0 {
		return value
	}
	unescaped, err := unescapeEntities(bytes.Clone(value))
	if err != nil {
		return value
	}
	return unescaped
}
