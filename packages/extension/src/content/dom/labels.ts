/** Labels of controls. `labels` of a control searches the whole document, so all are looked up at once. */

type Labels = ReadonlyMap<Element, readonly HTMLLabelElement[]>;

let known: Map<Node, Labels> | null = null;

/** Kept until the running task of the event loop is done. */
function labelsIn(root: Document | ShadowRoot): Labels {
  if (!known) {
    known = new Map();
    queueMicrotask(() => {
      known = null;
    });
  }
  let labels = known.get(root);
  if (!labels) {
    labels = collect(root);
    known.set(root, labels);
  }
  return labels;
}

function collect(root: Document | ShadowRoot): Labels {
  const labels = new Map<Element, HTMLLabelElement[]>();
  for (const label of root.querySelectorAll('label')) {
    const { control } = label;
    const others = control && labels.get(control);
    if (others) others.push(label);
    else if (control) labels.set(control, [label]);
  }
  return labels;
}

export const labelsOf = (element: Element): readonly HTMLLabelElement[] =>
  labelsIn(element.getRootNode() as Document | ShadowRoot).get(element) ?? [];
