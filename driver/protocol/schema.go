package protocol

// NewAttr is an attribute of a type, as HCL writes types.
func NewAttr(name, hclType string, required bool) *Spec {
	return &Spec{Block: &Spec_Attr{Attr: &Attr{Name: name, Type: hclType, Required: required}}}
}

// NewBlock is a block that may be there once.
func NewBlock(name string, required bool, nested *Spec) *Spec {
	return &Spec{Block: &Spec_BlockValue{BlockValue: &Block{Name: name, Required: required, Nested: nested}}}
}

// NewBlockList is a block that may be there any number of times.
func NewBlockList(name string, nested *Spec) *Spec {
	return &Spec{Block: &Spec_BlockList{BlockList: &BlockList{Name: name, Nested: nested}}}
}

// NewDefault is primary, and otherwise where that gives nothing.
func NewDefault(primary, otherwise *Spec) *Spec {
	return &Spec{Block: &Spec_Default{Default: &Default{Primary: primary, Default: otherwise}}}
}

// NewLiteral is the value of an HCL expression.
func NewLiteral(expression string) *Spec {
	return &Spec{Block: &Spec_Literal{Literal: &Literal{Value: expression}}}
}

// NewObject is a set of values by name.
func NewObject(attributes map[string]*Spec) *Spec {
	return &Spec{Block: &Spec_Object{Object: &Object{Attributes: attributes}}}
}
