/** Errors of databases as messages for users and operators. */
import { Fault } from '@parlance/protocol';

export type StorageProblem = { readonly client: string; readonly operator: string };

/** The error that a store operation throws. */
export const faultOf = (problem: StorageProblem, cause: unknown): Fault =>
  new Fault('storage_unavailable', problem.client, { cause });

/** The error that a command or startup throws: one line with the place. */
export function unusable(place: string, { operator }: StorageProblem, cause: unknown): Error {
  const detail = cause instanceof Error ? cause.message.split('\n', 1)[0] : '';
  return new Error(`${place} cannot be used: ${operator} (${detail})`, { cause });
}
