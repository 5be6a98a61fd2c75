/** Import cycles, by value or by type: groups of nodes that reach each other. */
export type Graph = ReadonlyMap<string, ReadonlySet<string>>;

/** Strongly connected components with more than one node (Tarjan), each sorted. */
export function cyclesIn(graph: Graph): string[][] {
  const order = new Map<string, number>();
  const stack: string[] = [];
  const cycles: string[][] = [];

  function visit(node: string): number {
    let low = order.size;
    order.set(node, low);
    const start = stack.push(node) - 1;
    const own = low;
    for (const next of graph.get(node) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) low = Math.min(low, visit(next));
      else if (stack.includes(next)) low = Math.min(low, order.get(next) ?? low);
    }
    if (low === own) {
      const members = stack.splice(start);
      if (members.length > 1) cycles.push(members.sort());
    }
    return low;
  }

  for (const node of graph.keys()) if (!order.has(node)) visit(node);
  return cycles;
}
