/** Finds the field of a request that does not match its schema. */
import type { z } from 'zod';

export type FieldIssue = { readonly path: readonly PropertyKey[]; readonly message: string };

type Issue = z.core.$ZodIssue;

/** The first field that does not match; for a union, in the closest alternative. */
export function firstIssue([issue]: readonly Issue[]): FieldIssue {
  if (!issue) return { path: [], message: 'invalid value' };
  const alternatives = issue.code === 'invalid_union' ? issue.errors : [];
  const [closest] = alternatives.toSorted((one, other) => distance(one) - distance(other));
  if (!closest) return issue;
  const { path, message } = firstIssue(closest);
  return { path: [...issue.path, ...path], message };
}

/**
 * An alternative with another `type` is the farthest; of the others, the one that matches up to a deeper field
 * is closer.
 */
function distance(issues: readonly Issue[]): number {
  const isOther = issues.some(({ path }) => path.length === 1 && path[0] === 'type');
  const depth = Math.max(...issues.map(({ path }) => path.length));
  return (isOther ? 1_000_000 : 0) - 1_000 * depth + issues.length;
}
