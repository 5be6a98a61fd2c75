/** `--approve`: how to answer calls that need approval. */
import { CommandError } from '../command-error.ts';

const APPROVE = ['ask', 'all', 'never'] as const;

export type Approve = (typeof APPROVE)[number];

export function approveFrom(text: string | undefined): Approve {
  const found = APPROVE.find((one) => one === (text ?? 'ask'));
  if (found) return found;
  throw new CommandError(`--approve must be one of ${APPROVE.join(', ')}, not "${text}"`, 2);
}
